import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MoreTools } from "../core/agent.ts";
import type { MemoryKind } from "../core/memory.ts";
import type { Tool, ToolContext } from "../core/tools/tool.ts";
import { createMemoryStore, type NewMemory } from "./memory-store.ts";
import { memoryTool } from "./memory-tool.ts";
import { sqliteRows } from "./sqlite-rows.ts";
import { withMemory } from "./with-memory.ts";

const signal = AbortSignal.timeout(60_000);
const own = "own memory";
const folder = mkdtempSync(join(tmpdir(), "memory-"));
afterAll(() => rmSync(folder, { recursive: true }));
let stores = 0;

/** A memory of ann's with its tool; `call` says what the task has taken in. */
function remembering() {
  let at = 0;
  const store = createMemoryStore(
    sqliteRows(join(folder, `${++stores}.db`)),
    { entries: 50, entryCharacters: 200 },
    () => ++at,
  );
  const tool = memoryTool(store, "ann");
  const call = (input: object, takenIn?: readonly string[]) =>
    tool.call(input, { signal, ...(takenIn && { takenIn }) } as unknown as ToolContext);
  const risk = async (input: object, takenIn: readonly string[]) => tool.risk?.(input, { takenIn, said: [] } as never);
  const add = (text: string, kind: MemoryKind = "fact", more: Partial<NewMemory> = {}) =>
    store.add("ann", { text, kind, by: "person", ...more });
  const entries = async () =>
    (await store.list("ann")).map(({ id: _, createdAt: __, changedAt: ___, ...entry }) => entry);
  return { store, tool, call, risk, add, entries };
}

test("what is saved is the agent's, with all that others had a say in; a task that does not say may have read anything", async () => {
  const { call, entries, add } = remembering();
  expect(await call({ command: "save", text: "Tea." }, [own, "web"])).toMatchObject({
    text: expect.stringMatching(/^Saved as \[\w{8}\] \(fact\)\.$/),
    isError: false,
  });
  await call({ command: "save", text: "Milk.", kind: "preference" }, [own]);
  await call({ command: "save", text: "Salt.", kind: "how-to" });
  const about = { by: "agent", isPublic: false } as const;
  expect(await entries()).toEqual([
    { ...about, kind: "how-to", text: "Salt.", sources: [expect.any(String)] },
    { ...about, kind: "preference", text: "Milk.", sources: [] },
    { ...about, kind: "fact", text: "Tea.", sources: ["web"] },
  ]);
  const { id } = await add("Sugar.", "preference", { isPublic: true });
  await call({ command: "save", id, text: "No sugar." }, ["files"]);
  expect((await entries())[0]).toMatchObject({ text: "No sugar.", kind: "preference" });
  await call({ command: "save", id, text: "Little sugar.", kind: "fact" }, ["files"]);
  expect((await entries())[0]).toEqual({ ...about, kind: "fact", text: "Little sugar.", sources: ["files"] });
});

test("what is forgotten is gone, and what a command needs is named", async () => {
  const { call, add, entries } = remembering();
  const { id } = await add("Tea.");
  expect(await call({ command: "forget", id })).toEqual({ text: `Forgotten: [${id}].`, isError: false });
  expect(await entries()).toEqual([]);
  for (const [input, text] of [
    [{ command: "forget", id }, `There is no entry "${id}".`],
    [{ command: "forget" }, "forget needs `id`."],
    [{ command: "save" }, "save needs `text`."],
  ] as const)
    expect(await call(input)).toMatchObject({ text, isError: true });
});

test("a search finds by words and kind, all of it without words, at most twenty, and brings what they came from", async () => {
  const { call, add } = remembering();
  await add("The printer is upstairs.", "fact", { by: "agent", sources: ["web"], isPublic: true });
  await add("Restart the printer.", "how-to");
  const found = async (input: object) => {
    const { text, takenIn } = await call({ command: "search", ...input });
    return [text.match(/(?<=\] )[\w-]+: .*/g) ?? text, takenIn];
  };
  const [fact, guide] = ["fact: The printer is upstairs.", "how-to: Restart the printer."];
  expect(await found({})).toEqual([
    [guide, fact],
    [own, "web"],
  ]);
  expect(await found({ kind: "fact" })).toEqual([[fact], ["web"]]);
  expect(await found({ text: "printer", kind: "how-to" })).toEqual([[guide], [own]]);
  expect(await found({ kind: "preference" })).toEqual(["There are no such entries.", undefined]);
  const none = "No entry has these words. Leave out text to list all.";
  expect(await found({ text: "scanner" })).toEqual([none, undefined]);
  for (let n = 0; n < 25; n++) await add(`Room ${n}.`);
  expect((await found({}))[0]).toHaveLength(20);
});

test.each([
  [{ command: "save", text: "Tea." }, [own], undefined],
  [{ command: "save", text: "Tea." }, [], undefined],
  [{ command: "search", text: "Tea." }, ["web"], undefined],
  [
    { command: "save", text: 'Say "yes".' },
    [own, "web"],
    'Keep this in your memory for all later conversations, after this task has read what others wrote (web): "Say \\"yes\\"."',
  ],
  [
    { command: "save", text: "Tea.", id: "a1" },
    ["web", "files"],
    'Keep this in your memory in place of the entry "a1" for all later conversations, after this task has read what others wrote (web, files): "Tea."',
  ],
  [
    { command: "forget", id: "a1" },
    ["web"],
    'Forget the entry "a1" in your memory, after this task has read what others wrote (web)',
  ],
] as const)("the call %j of a task that has read %j needs a person for: %p", async (input, takenIn, risk) => {
  expect(await remembering().risk(input, takenIn)).toBe(risk as string);
});

test("a search changes nothing and may be repeated; what writes is judged also where risky calls are allowed", () => {
  const { tool } = remembering();
  expect(
    [{ command: "search" }, { command: "save", text: "x" }, { command: "forget", id: "x" }].map(tool.effect),
  ).toEqual(["pure", "idempotent", "idempotent"]);
  expect([tool.alwaysJudged, tool.parallel, tool.brings]).toEqual([true, false, []]);
});

test("those who have a memory have its tool first, the same each time, and a task is offered it once it may need it", async () => {
  const { store } = remembering();
  const other = { name: "other" } as Tool;
  const none: MoreTools = {
    list: async () => ({ tools: [other], missing: [{ name: "x", reason: "It is away." }] }),
    offer: (tools) => tools.filter(({ name }) => name !== "hidden"),
    mayHave: (name) => name === "other",
    release: async () => undefined,
  };
  const more = withMemory(none, store, (principal) => principal !== "nobody");
  const list = async (principal: string) => more.list(principal, signal);
  const { tools, missing } = await list("ann");
  expect([tools.map(({ name }) => name), missing]).toEqual([
    ["memory", "other"],
    [{ name: "x", reason: "It is away." }] as never,
  ]);
  expect((await list("nobody")).tools).toEqual([other]);
  await list("bob");
  expect((await list("ann")).tools[0]).toBe(tools[0] as Tool);
  expect(["memory", "other", "third"].filter((name) => more.mayHave(name))).toEqual(["memory", "other"]);
  const hidden = { name: "hidden" } as Tool;
  const offered = (told: readonly string[], ...said: string[]) =>
    more.offer([...tools, hidden], told.map((name) => ({ name, text: "" })) as never, said).map(({ name }) => name);
  expect(offered([], "Sum it up.")).toEqual(["other"]);
  expect(offered([], "Sum it up.", "From now on in German.")).toEqual(["memory", "other"]);
  expect(offered([], "记住这个")).toEqual(["memory", "other"]);
  expect(offered(["memory"], "Sum it up.")).toEqual(["memory", "other"]);
  // Of very many principals the tools of those who came first are made again.
  for (let n = 0; n < 1_000; n++) await list(`p${n}`);
  expect((await list("p999")).tools[0]).toBe((await list("p999")).tools[0] as Tool);
  expect((await list("ann")).tools[0]).not.toBe(tools[0] as Tool);
});
