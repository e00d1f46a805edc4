import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { wrapComments, wrapMarkdown } from "../../docs/site/wrap.ts";

const root = resolve(import.meta.dir, "../..");
const pages = ["README.md", "AGENTS.md", "CHANGELOG.md", ...new Bun.Glob("docs/**/*.md").scanSync({ cwd: root })];

/** Lines of prose: not code, tables, headings or pictures. */
function proseOf(markdown: string): string[] {
  const text = markdown.replaceAll(/^```[\s\S]*?^```$/gm, "");
  return text.split("\n").filter((line) => !/^(?:#|\||!\[)/.test(line));
}

test("prose fits 100 columns; bun docs/site/wrap.ts wraps it", async () => {
  expect(pages.length).toBeGreaterThan(15);
  const long: string[] = [];
  for (const page of pages)
    for (const line of proseOf(await Bun.file(resolve(root, page)).text()))
      if (line.length > 100 && line.trim().includes(" ")) long.push(`${page}: ${line.slice(0, 60)}`);
  expect(long).toEqual([]);
});

test("wrapping leaves code, tables, items and inline code unchanged", () => {
  const word = "word ".repeat(25).trim();
  const text = `# ${word}\n\n- ${word}\n  ${word}\n\n| ${word} |\n\`\`\`\n${word}\n\`\`\`\n\n${word} \`a b c\` - ${word}`;
  const wrapped = wrapMarkdown(text);
  expect(wrapMarkdown(wrapped)).toBe(wrapped);
  expect(wrapped.replaceAll(/\s+/g, " ")).toBe(text.replaceAll(/\s+/g, " "));
  expect(wrapped).toContain("`a b c`");
  expect(wrapped).not.toMatch(/^- word(?:[\s\S]*)\n- word/m);
  for (const line of proseOf(wrapped)) expect(line.length).toBeLessThanOrEqual(100);
});

test("comments of the sources fit 100 columns; bun docs/site/wrap.ts wraps them", async () => {
  const sources = (await Bun.$`git ls-files ${["*.ts", "*.tsx", "*.js"]}`.cwd(root).text()).trim().split("\n");
  expect(sources.length).toBeGreaterThan(1000);
  const wide: string[] = [];
  for (const path of sources) {
    const text = await Bun.file(resolve(root, path)).text();
    if (wrapComments(text) !== text) wide.push(path);
  }
  expect(wide).toEqual([]);
});

test("wrapping a source changes only its wide comments", () => {
  const word = "word ".repeat(25).trim();
  const kept = `const a = 1; // ${word}\n// biome-ignore lint: ${word}\n/** Short. */\nconst b = "${word}";\n`;
  const wide = `  /** ${word} */\n  /**\n   * ${word}\n   *\n   * - ${word}\n   */\n  // ${word}\n`;
  const wrapped = wrapComments(kept + wide);
  expect(wrapped).toStartWith(kept);
  expect(wrapComments(wrapped)).toBe(wrapped);
  const plain = (text: string) => text.replaceAll(/[\s*/]+/g, "");
  expect(plain(wrapped)).toBe(plain(kept + wide));
  for (const line of wrapped.slice(kept.length).split("\n")) expect(line.length).toBeLessThanOrEqual(100);
});
