import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { processByHand } from "../../../testing/sandbox/process-by-hand.ts";
import { contextForTest } from "../../../testing/tool-context.ts";
import { mapFiles } from "./map-files.ts";
import type { MappedFile } from "./map-protocol.ts";
import { renderMap } from "./render-map.ts";
import { repoMapTool } from "./repo-map.ts";
import { scoreFiles } from "./score-files.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
beforeAll(async () => {
  place = await workspaceForTest();
});
afterAll(() => place[Symbol.asyncDispose]());

const symbol = (name: string, text = `class ${name}`, depth = 0) => ({ line: 1, depth, name, text });
/** A file that defines these names and whose text has these words. */
const file = (path: string, names: readonly string[], words = "") => ({
  path,
  text: words,
  symbols: names.map((name) => symbol(name)),
});

test("a file counts by how many others name what it defines", () => {
  const [used, twice, alone] = scoreFiles([
    file("a/used.py", ["Widget"], "Widget Widget"),
    file("a/twice.py", ["Gadget"], "Widget"),
    file("a/alone.py", ["Nobody"], "Gadget Widget Gadget"),
  ]);
  expect([used, twice, alone]).toEqual([2.05, 1.05, 0.05]);
});

test("a name that several define is shared between them, an everyday or short word counts for less or nothing", () => {
  const words = "Widget value ab make_it";
  const scores = scoreFiles([
    file("a/one.py", ["Widget"]),
    file("a/two.py", ["Widget"]),
    file("a/plain.py", ["value"]),
    file("a/short.py", ["ab"]),
    file("a/joined.py", ["make_it"]),
    file("a/user.py", [], words),
  ]);
  expect(scores.map((score) => Math.round(score * 100) / 100)).toEqual([0.55, 0.55, 0.25, 0.05, 1.05, 0]);
});

test("what a file does not export is used by nobody; without exports all of it may be", () => {
  const own = { ...file("a/own.ts", [], "export class Shown {}"), symbols: [symbol("Shown", "export class Shown")] };
  const hidden = { ...own, path: "a/hidden.ts", symbols: [...own.symbols, symbol("Hidden", "class Hidden")] };
  const score = (name: string) => scoreFiles([hidden, file("a/user.ts", [], name)])[0];
  expect([score("Shown"), score("Hidden")]).toEqual([1.1, 0.1]);
});

test("entry points come first, tests last, and what is only long gains little", () => {
  const many = Array.from({ length: 40 }, (_, n) => `Name${n}`);
  const scores = scoreFiles([
    file("a/main.py", []),
    file("a/node_modules/x/index.js", []),
    file("a/long.py", many),
    file("tests/main.py", []),
    file("a/widget_test.go", many),
    file("a/contest.py", many),
  ]);
  expect(scores).toEqual([5, 0, 1, 0.5, 0.1, 1]);
});

const mapped = (path: string, score: number, symbols = [symbol("A"), symbol("f", "def f()", 1)]): MappedFile => ({
  ...{ path, score, symbols },
});

test("a map has the most important files first, and says what is inside those for which there is no room", () => {
  const files = [mapped("low.py", 1), mapped("none.py", 99, []), mapped("high.py", 5)];
  expect(renderMap(files, 500)).toBe(
    "high.py\n    1 class A\n    1   def f()\nlow.py\n    1 class A\n    1   def f()\n[without definitions: none.py]",
  );
  const inner = Array.from({ length: 100 }, (_, n) => symbol(`inner${n}`, `def inner${n}(self, first, second)`, 1));
  expect(renderMap([mapped("big.py", 1, [symbol("A"), ...inner])], 200)).toBe(
    "big.py\n    1 class A\n      [100 inside these]",
  );
});

test("a map stays within its tokens and names some of what it leaves out", () => {
  const files = Array.from({ length: 40 }, (_, n) => mapped(`folder/file${n}.py`, 100 - n));
  const lines = renderMap(files, 200).split("\n");
  const shown = lines.filter((line) => line.startsWith("folder/")).length;
  expect(shown).toBeGreaterThan(2);
  expect(shown).toBeLessThan(15);
  const next = [0, 1, 2, 3, 4].map((n) => `folder/file${shown + n}.py`).join(", ");
  expect(lines.at(-1)).toBe(
    `[${40 - shown} more files with definitions: ${next} …; give a folder as path or more tokens]`,
  );
  const two = renderMap(files.slice(0, shown + 2), 200)
    .split("\n")
    .at(-1);
  expect(two).toStartWith("[2 more files");
  expect(two).not.toContain("…");
});

test("of files without definitions, such as tests, some are named and the others counted", () => {
  const tests = Array.from({ length: 10 }, (_, at) => mapped(`test/${at}.test.ts`, 0, []));
  expect(
    renderMap([mapped("a.ts", 1), ...tests], 500)
      .split("\n")
      .at(-1),
  ).toBe(`[without definitions: ${[0, 1, 2, 3, 4, 5, 6, 7].map((at) => `test/${at}.test.ts`).join(", ")} and 2 more]`);
  expect(renderMap(tests, 500)).toBe("");
});

/** The map of a workspace whose listing and parser answer this. */
async function mapOf(
  paths: readonly string[],
  { limitHit, mappedOnly }: { readonly limitHit?: string; readonly mappedOnly?: readonly string[] } = {},
) {
  const sandbox = {
    async spawn() {
      const byHand = processByHand({ ...(limitHit !== undefined && { limitHit }) });
      byHand.says("stdout", paths.map((path) => `${path}\0`).join(""));
      byHand.exits(0);
      return byHand.process;
    },
  } as unknown as Sandbox;
  const parsed: string[] = [];
  using _ = spyOn(Bun, "spawn").mockImplementation(((_: unknown, { stdin }: { stdin: Blob }) => {
    const stdout = new ReadableStream({
      async start(controller) {
        const { files } = JSON.parse(await stdin.text()) as { files: { path: string }[] };
        parsed.push(...files.map((one) => one.path));
        const known = parsed.filter((path) => mappedOnly?.includes(path) ?? true);
        controller.enqueue(Buffer.from(JSON.stringify({ files: known.map((path) => mapped(path, 1)) })));
        controller.close();
      },
    });
    return { stdout, exited: Promise.resolve(0) };
  }) as never);
  const { text } = await repoMapTool({ sandbox }).call({}, contextForTest(place.workspace));
  return { text, parsed };
}

const incomplete = "[there was too much code to map all of it; give a folder as path]";

test("a map that does not have all of the code says so, whatever cut it", async () => {
  const { root } = place.workspace;
  for (const name of ["a.py", "b.py", "c.txt"]) await writeFile(join(root, name), "x");
  const whole = await mapOf(["a.py", "b.py", "c.txt", "gone.py"]);
  expect(whole.parsed).toEqual(["a.py", "b.py"]);
  expect(whole.text.split("\n").slice(-1)).toEqual(["[other files: 1 .txt]"]);
  expect((await mapOf(["a.py"], { limitHit: "output 4 MB" })).text).toEndWith(`\n${incomplete}`);
  expect((await mapOf(["a.py", "b.py"], { mappedOnly: ["b.py"] })).text).toEndWith(`\n${incomplete}`);
  const many = Array.from({ length: 2_001 }, (_, n) => (n === 2_000 ? "b.py" : n === 0 ? "a.py" : `gone${n}.py`));
  const cut = await mapOf(many);
  expect([cut.parsed, cut.text.endsWith(incomplete)]).toEqual([["a.py"], true]);
  expect((await mapOf(many.slice(1))).text).not.toContain(incomplete);
});

test("a file that is too large is not parsed, and of all files no more than can be", async () => {
  const { root } = place.workspace;
  await writeFile(join(root, "most.py"), "x".repeat(300_000));
  await writeFile(join(root, "more.py"), "x".repeat(300_001));
  expect((await mapOf(["most.py", "more.py"])).parsed).toEqual(["most.py"]);
  const fifty = Array.from({ length: 50 }, () => "most.py");
  const full = await mapOf(fifty);
  expect([full.parsed.length, full.text.includes(incomplete)]).toEqual([50, false]);
  const beyond = await mapOf([...fifty, "a.py"]);
  expect([beyond.parsed.length, beyond.text.endsWith(incomplete)]).toEqual([50, true]);
});

test("the parser's process gets nothing of this one, ends in time, and its failure is told", async () => {
  const signal = new AbortController().signal;
  const child = { stdout: new Blob(["half"]).stream(), exited: Promise.resolve(137) };
  using spawned = spyOn(Bun, "spawn").mockReturnValue(child as never);
  await expect(mapFiles([], signal)).rejects.toMatchObject({
    code: "unavailable",
    message: "The files could not be parsed in time. Give a smaller folder as path.",
  });
  const [argv, options] = spawned.mock.calls[0] as unknown as [string[], { signal: AbortSignal }];
  expect(argv.at(-1)).toBe(resolve(import.meta.dir, "map-worker.ts"));
  expect(options).toMatchObject({
    ...{ cwd: "/", env: { LANG: "C.UTF-8" }, stderr: "ignore" },
    ...{ timeout: 20_000, killSignal: "SIGKILL", maxBuffer: 32 * 1024 ** 2 },
  });
  expect(options.signal).toBe(signal);
  await expect(mapFiles([], AbortSignal.abort(new Error("stopped")))).rejects.toThrow("stopped");
  expect(spawned).toHaveBeenCalledTimes(1);
});
