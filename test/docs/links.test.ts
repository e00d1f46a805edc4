import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { slug } from "../../docs/site/slug.ts";
import { codesIn } from "./markdown.ts";

const root = resolve(import.meta.dir, "../..");
const guides = ["README.md", "AGENTS.md", "CHANGELOG.md", ...pagesOfDocs()];

function pagesOfDocs(): string[] {
  const pages = [...new Bun.Glob("docs/**/*.md").scanSync({ cwd: root })];
  return pages.filter((path) => !path.includes("node_modules"));
}

/** The anchors of the headings. */
function anchorsOf(markdown: string): string[] {
  const headings = [...markdown.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ (.+)$/gm)];
  return headings.map(([, heading]) => slug(heading ?? ""));
}

test("every link between the guides leads to an existing file and heading", async () => {
  const broken: string[] = [];
  let links = 0;
  for (const guide of guides) {
    const markdown = await Bun.file(resolve(root, guide)).text();
    // What stands in code is shown, not linked.
    for (const [, target = ""] of markdown
      .replaceAll(/`[^`\n]+`/g, (code) => (/\]\(/.test(code) ? "" : code))
      .matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
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

test("every file that the contributor's map names exists", async () => {
  const named = codesIn(await Bun.file(resolve(root, "AGENTS.md")).text());
  const paths = named.filter((code) => /^(?:agents|docs|flows|gateway|shared|test)\/[\w./-]+$/.test(code));
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !existsSync(resolve(root, path)))).toEqual([]);
});
