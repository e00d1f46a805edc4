import { expect, test } from "bun:test";
import { AppError } from "../../../core/errors.ts";
import type { Conversations, FolderOf, HeldConversation } from "../../../core/runs/conversations.ts";
import type { Log } from "../../../core/runs/engine.ts";
import type { Run, RunDefinition } from "../../../core/runs/run.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { workspaceKey } from "../open-workspace.ts";
import type { WorkspaceCheckpoints } from "./checkpoints.ts";
import { shareWorkspaces } from "./share-workspaces.ts";

const folder = workspaceKey("swe/ann", "c");
const conversation: FolderOf = { kind: "swe", principal: "ann", contextId: "c", folder };

/**
 * A machine that holds what a test says, with the marker that its folder has; what it did to the
 * folder, in order.
 */
function machine(holding: Partial<HeldConversation>, markedBy?: number) {
  const did: string[] = [];
  const logged: string[] = [];
  const state = {
    held: { epoch: 5, before: 0, checkpoint: null, isTakeover: false, ...holding } as HeldConversation,
    marker: markedBy,
    keeps: true,
    saving: async () => {},
    idle: async (_: FolderOf, __: number) => false as boolean,
  };
  const checkpoints = {
    marker: async () => (state.marker === undefined ? undefined : { epoch: state.marker }),
    adopt: async (name: string, epoch: number) => void did.push(`adopt ${name === folder} ${epoch}`),
    async restore(_: string, epoch: number, checkpoint: string | null) {
      did.push(`restore ${epoch} ${checkpoint}`);
    },
    async save(_: string, epoch: number, keep: (checkpoint: string) => Promise<boolean>) {
      await state.saving();
      did.push(`save ${epoch} ${await keep("id")}`);
    },
  } as unknown as WorkspaceCheckpoints;
  const conversations = {
    async hold(asked: FolderOf) {
      expect(asked).toEqual(conversation);
      return state.held;
    },
    keep: async (_: unknown, epoch: number, checkpoint: string) => {
      did.push(`keep ${epoch} ${checkpoint}`);
      return state.keeps;
    },
    onIdle: (store: typeof state.idle) => {
      state.idle = store;
    },
  } as unknown as Conversations;
  const shared = shareWorkspaces({
    conversations,
    checkpoints,
    kind: "swe",
    open: async (principal, contextId) => ({ principal, root: contextId }) as Workspace,
    release: async ({ root }) => void did.push(`release ${root}`),
    log: { warn: () => logged.push("warn"), error: () => logged.push("error") } as unknown as Log,
  });
  const open = () => shared.open("ann", "c");
  const run = (execute: () => Promise<unknown>, aborted = false) => {
    const definition = shared.storing({ kind: "swe", execute } as unknown as RunDefinition);
    const signal = aborted ? AbortSignal.abort() : new AbortController().signal;
    return definition.execute({ principal: "ann", contextId: "c", abortSignal: signal } as Run, undefined as never);
  };
  return { did, logged, state, open, run };
}

test.each<[string, Partial<HeldConversation>, number | undefined, readonly string[]]>([
  ["a new one", {}, undefined, ["adopt true 5"]],
  ["one that this machine held before", { before: 4 }, 4, ["adopt true 5"]],
  ["one that this machine took, and was killed", { before: 4 }, 5, ["adopt true 5"]],
  ["one that was elsewhere since", { before: 4, checkpoint: "x" }, 3, ["release c", "restore 5 x"]],
  ["one that was never here", { before: 4, checkpoint: "x" }, undefined, ["release c", "restore 5 x"]],
  ["one of which nothing was stored", { before: 4 }, 3, ["release c", "restore 5 null"]],
])("%s is the newest here or made so", async (_, holding, markedBy, did) => {
  const one = machine(holding, markedBy);
  const { root, takeNotice } = await one.open();
  expect([root, one.did, one.logged]).toEqual(["c", [...did], did.length === 1 ? [] : ["warn"]]);
  expect(takeNotice?.()).toBeUndefined();
  // Opened again under the same epoch it is as it was left.
  await Promise.all([one.open(), one.open()]);
  expect(one.did).toEqual([...did]);
  one.state.held = { ...one.state.held, epoch: 6, before: 5 };
  one.state.marker = 5;
  await one.open();
  expect(one.did.slice(did.length)).toEqual(["adopt true 6"]);
});

test("what several open at once is made only once", async () => {
  const one = machine({ before: 4, checkpoint: "x" });
  await Promise.all([one.open(), one.open(), one.open()]);
  expect(one.did).toEqual(["release c", "restore 5 x"]);
});

test("who goes on after a machine that is gone is told once what may be lost", async () => {
  for (const [checkpoint, told] of [
    ["x", "They are as they were last stored"],
    [null, "None of them had been stored"],
  ] as const) {
    const { takeNotice } = await machine({ before: 4, checkpoint, isTakeover: true }).open();
    expect(takeNotice?.()).toContain(told);
    expect(takeNotice?.()).toBeUndefined();
  }
});

test("what a run did is stored before its end is known, also of one that failed, and not of one that goes on elsewhere", async () => {
  const one = machine({});
  await one.run(async () => "nothing opened");
  expect(one.did).toEqual([]);
  await one.open();
  const opened = one.did.length;
  expect(await one.run(async () => "done")).toBe("done");
  await expect(one.run(() => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  await one.run(async () => "given up", true);
  expect(one.did.slice(opened)).toEqual(["keep 5 id", "save 5 true", "keep 5 id", "save 5 true"]);
  // A store that is away fails no run; a bug is told.
  for (const [error, logged] of [
    [new AppError("storage_unavailable", "away"), []],
    [new TypeError("a bug"), ["error"]],
  ] as const) {
    one.state.saving = () => Promise.reject(error);
    expect(await one.run(async () => "done")).toBe("done");
    expect(one.logged.splice(0)).toEqual([...logged]);
  }
});

test("a conversation is given up once it is stored, and what another epoch left is not stored again", async () => {
  const one = machine({});
  await one.open();
  one.state.saving = () => Promise.reject(new Error("away"));
  await expect(one.state.idle(conversation, 5)).rejects.toThrow("away");
  one.state.saving = async () => {};
  const before = one.did.length;
  expect(await one.state.idle(conversation, 4)).toBe(true);
  expect(one.did.length).toBe(before);
  await one.open();
  expect(await one.state.idle(conversation, 5)).toBe(true);
  expect(one.did.at(-1)).toBe("save 5 true");
  const saved = one.did.length;
  await one.run(async () => "nothing opened since");
  expect(await one.state.idle(conversation, 5)).toBe(true);
  expect(one.did.length).toBe(saved);
});

test("one thing at a time is done to a folder", async () => {
  const one = machine({});
  await one.open();
  let inside = 0;
  let most = 0;
  one.state.saving = async () => {
    most = Math.max(most, ++inside);
    await Bun.sleep(1);
    inside--;
  };
  await Promise.all([1, 2, 3].map(() => one.run(async () => "done")));
  expect(most).toBe(1);
});
