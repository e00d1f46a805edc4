import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { llmsText } from "../../docs/site/pages.ts";

test("llms.txt lists every page with its subject; bun docs/site/write.ts regenerates it", async () => {
  const listed = await llmsText();
  expect(await Bun.file(resolve(import.meta.dir, "../../docs/llms.txt")).text()).toBe(listed);
  const lines = listed.split("\n").filter((line) => line.startsWith("- ["));
  expect(lines.length).toBeGreaterThan(40);
  expect(lines.filter((line) => !/^- \[[^\]]+\]\([a-z0-9/-]+\.md\): \S.*\.$/.test(line))).toEqual([]);
});
