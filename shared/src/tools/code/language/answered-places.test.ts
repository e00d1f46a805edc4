import { expect, test } from "bun:test";
import { mkdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { serverByHand } from "../../../testing/code/server-by-hand.ts";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { contextForTest } from "../../../testing/tool-context.ts";
import { languageServerTool } from "./language-server.ts";

type Found = { readonly path?: string; readonly line: number; readonly message?: string };

/** What the tool says of places or problems that the server answers. */
async function said(command: "definition" | "diagnostics", found: readonly Found[]) {
  await using place = await workspaceForTest();
  const { root } = place.workspace;
  await writeFile(join(root, "a.py"), "total = 1\nsubtotal = total\n");
  await writeFile(join(root, "b.py"), "\u202ex".repeat(200));
  // Its name begins as the way out does.
  await mkdir(join(root, "..x"));
  await writeFile(join(root, "..x/b.py"), "its own");
  const rangeOf = (line: number) => ({ start: { line, character: 2 } });
  const positions: unknown[] = [];
  const server = serverByHand(({ method, params }) => {
    if (method === "initialize") return { result: { capabilities: { diagnosticProvider: {} } } };
    if (method === "textDocument/definition") {
      positions.push((params as { position: unknown }).position);
      return {
        result: found.map(({ path = "", line }) => ({
          uri: `file://${path.replace("ROOT", root)}`,
          range: rangeOf(line),
        })),
      };
    }
    if (method === "textDocument/diagnostic")
      return { result: { items: found.map(({ line, message = "" }) => ({ range: rangeOf(line), message })) } };
    return undefined;
  });
  const tool = languageServerTool({ sandbox: server.sandbox });
  const at = command === "definition" ? { line: 2, symbol: "total" } : {};
  const { text } = await tool.call({ command, path: "a.py", ...at }, contextForTest(place.workspace));
  return { text, positions, lines: text.split("\n") };
}

test("a place in the workspace is shown with its line, one elsewhere by its path alone", async () => {
  const { lines, positions } = await said("definition", [
    { path: "ROOT/a.py", line: 1 },
    { path: "/usr/lib/python3/os.py", line: 4 },
    { path: "ROOT/b.py", line: 0 },
    { path: "ROOT/a.py", line: 99 },
    { path: "ROOT/gone.py", line: 0 },
    { path: "ROOT/..x/b.py", line: 0 },
    { path: "ROOT/../elsewhere.py", line: 0 },
  ]);
  // The symbol itself, and not the end of another one.
  expect(positions).toEqual([{ line: 1, character: 11 }]);
  expect(lines[2]?.length).toBeLessThan(180);
  expect(lines[2]).not.toContain("\u202e");
  expect(lines.toSpliced(2, 1)).toEqual([
    ...["a.py:2:3: subtotal = total", "/usr/lib/python3/os.py:5:3"],
    ...["a.py:100:3: ", "gone.py:1:3: ", "..x/b.py:1:3: its own"],
    expect.stringMatching(/^\/.*\/elsewhere\.py:1:3$/),
  ]);
});

test("of many places or problems the first hundred are shown, and how many more there are", async () => {
  for (const [command, none] of [
    ["definition", "The language server knows no definition of total there."],
    ["diagnostics", "The language server finds no error in a.py."],
  ] as const) {
    const many = (count: number) => Array.from({ length: count }, (_, line) => ({ path: "/x.py", line, message: "m" }));
    expect((await said(command, [])).text).toBe(none);
    expect((await said(command, many(100))).lines).toHaveLength(100);
    const { lines } = await said(command, many(103));
    expect([lines.length, lines.at(-1)]).toEqual([101, "and 3 more"]);
  }
});

test("a file that is too large is shown to no language server", async () => {
  await using place = await workspaceForTest();
  const server = serverByHand(() => undefined);
  await writeFile(join(place.workspace.root, "a.py"), "");
  await truncate(join(place.workspace.root, "a.py"), 2_000_001);
  const { text } = await languageServerTool({ sandbox: server.sandbox }).call(
    { command: "diagnostics", path: "a.py" },
    contextForTest(place.workspace),
  );
  expect([text, server.commands.length]).toEqual(["a.py is too large for a language server.", 0]);
});

test("it is offered when the user speaks of what it answers, not when a result does", () => {
  const tool = languageServerTool({ sandbox: serverByHand(() => undefined).sandbox });
  expect(tool.neededFor?.("Where is it used?", "user")).toBe(true);
  expect(tool.neededFor?.("Rename it.", "user")).toBe(true);
  expect(tool.neededFor?.("Hello.", "user")).toBe(false);
  expect(tool.neededFor?.("Where is it used?", "result")).toBe(false);
});
