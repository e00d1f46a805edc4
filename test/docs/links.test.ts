import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";

const root = resolve(import.meta.dir, "../..");
const guides = ["README.md", "AGENTS.md", ...new Bun.Glob("docs/**/*.md").scanSync({ cwd: root })];

/** The anchors that headings make, as code hosts do: lower case, blanks as dashes, punctuation left out. */
function anchorsOf(markdown: string): string[] {
  const headings = [...markdown.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ (.+)$/gm)];
  return headings.map(([, heading]) =>
    (heading ?? "")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test("every link between the guides leads to a file and a heading that are there", async () => {
  const broken: string[] = [];
  let links = 0;
  for (const guide of guides) {
    const markdown = await Bun.file(resolve(root, guide)).text();
    for (const [, target = ""] of markdown.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
      links++;
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? resolve(root, guide) : resolve(root, dirname(guide), path);
      const found =
        existsSync(file) && (anchor === undefined || anchorsOf(await Bun.file(file).text()).includes(anchor));
      if (!found) broken.push(`${guide}: ${target}`);
    }
  }
  expect(links).toBeGreaterThan(10);
  expect(broken).toEqual([]);
});
