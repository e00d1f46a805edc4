import { expect, test } from "bun:test";
import type { Tool, ToolContext } from "../../../core/tools/tool.ts";
import type { CheckpointStore, Occasion } from "./checkpoint-store.ts";
import { withCheckpoints } from "./with-checkpoints.ts";

/** What is done with a tool whose calls all have this effect, in the order in which it is done. */
function watched(effect: "pure" | "always", take: () => Promise<void> = async () => undefined) {
  const done: string[] = [];
  const tool = {
    name: "edit",
    effect: () => effect,
    edits: (input: { readonly edited?: readonly string[] }) => input.edited ?? [],
    call: async () => {
      done.push("called");
      return { text: "Done.", isError: false };
    },
  } as unknown as Tool;
  const checkpoints = {
    take: async (_: unknown, { key, tool: name, about }: Occasion) => {
      done.push(`${key} ${name}: ${about}`);
      await take();
    },
  } as unknown as CheckpointStore;
  const call = (input: unknown, signal = AbortSignal.any([])) =>
    withCheckpoints(tool, checkpoints).call(input, { workspace: {}, key: "7", signal } as ToolContext);
  return { done, call };
}

test.each([
  [{ command: "create", path: "a.md", text: "no" }, "create a.md"],
  [{ patch: "--- a/a.md", edited: ["a.md", "b.md"] }, "a.md b.md"],
  [{ command: "create", path: "a.md", edited: ["a.md"] }, "create a.md"],
  [{ url: "x".repeat(80) }, "x".repeat(80)],
  [{ url: "x".repeat(81) }, `${"x".repeat(80)}…`],
  [null, ""],
  ["text", ""],
])("the state is saved before a call that may change it, and named by what is called: %j", async (input, about) => {
  const { done, call } = watched("always");
  expect(await call(input)).toEqual({ text: "Done.", isError: false });
  expect(done).toEqual([`7 edit: ${about}`, "called"]);
});

test("a call that changes nothing saves nothing, and one that is aborted does nothing", async () => {
  const pure = watched("pure");
  await pure.call({ path: "a.md" });
  expect(pure.done).toEqual(["called"]);
  for (const { call, done } of [watched("pure"), watched("always")]) {
    await expect(call({}, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
    expect(done).toEqual([]);
  }
});

test.each([
  [new Error("the disk is full"), "the disk is full"],
  ["no room", "no room"],
])("what cannot be saved is said beside the result, and the call is made all the same: %s", async (why, said) => {
  const { call } = watched("always", () => Promise.reject(why));
  const { text } = await call({});
  expect(text).toBe(`Done.\n[the state before this call could not be saved: ${said}]`);
});
