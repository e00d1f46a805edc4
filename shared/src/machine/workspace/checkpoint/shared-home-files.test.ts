import { expect, test } from "bun:test";
import type { Conversations } from "../../../core/runs/conversations.ts";
import type { HomeFiles } from "../../../core/runs/housekeeping.ts";
import type { WorkspaceCheckpoints } from "./checkpoints.ts";
import { sharedHomeFiles } from "./shared-home-files.ts";

/** A home whose folders, and those stored elsewhere, are what a test says; and what was done. */
function home(folders: { here?: string[]; stored?: string[]; gone?: string[]; checkpoints?: string[] } = {}) {
  const { here = [], stored = [], gone = [], checkpoints: marked = [] } = folders;
  const did: string[] = [];
  const asked: (readonly string[])[] = [];
  const files = {
    oldWorkspaces: async (_: number, limit: number, except: ReadonlySet<string>) =>
      here.filter((name) => !except.has(name)).slice(0, limit),
    async detachOld(name: string, before: number) {
      did.push(`detach ${name} ${before}`);
      return here.includes(name);
    },
    clear: async () => void did.push("clear"),
    dropCopies: async () => void did.push("drop copies"),
  } as unknown as HomeFiles;
  const conversations = {
    unused: async (_: number, limit: number) => stored.slice(0, limit),
    async forget(name: string, before: number) {
      did.push(`forget ${name} ${before}`);
      return stored.includes(name);
    },
    gone: async () => gone,
    cleared: async (name: string) => void did.push(`cleared ${name}`),
    async unknown(names: readonly string[]) {
      asked.push(names);
      return new Set(names.filter((name) => name.startsWith("x")));
    },
  } as unknown as Conversations;
  const checkpoints: Pick<WorkspaceCheckpoints, "clear" | "here"> = {
    clear: async (name) => void did.push(`clear ${name}`),
    here: async () => marked,
  };
  return { did, asked, shared: sharedHomeFiles(files, { conversations, checkpoints }) };
}

test("old is what is unused here or elsewhere, each once, at most so many, and none that is excepted", async () => {
  const { shared } = home({ here: ["a", "b"], stored: ["b", "c", "d", "e"] });
  expect(await shared.oldWorkspaces(1, 9, new Set(["d"]))).toEqual(["a", "b", "c", "e"]);
  expect(await shared.oldWorkspaces(1, 3, new Set(["a"]))).toEqual(["b", "c", "d"]);
  expect(await shared.oldWorkspaces(1, 2, new Set())).toEqual(["a", "b"]);
});

test("what is let go is let go in both places, wherever it is", async () => {
  const it = home({ here: ["a"], stored: ["c"] });
  expect([
    await it.shared.detachOld("a", 7),
    await it.shared.detachOld("c", 7),
    await it.shared.detachOld("x", 7),
  ]).toEqual([true, true, false]);
  expect(it.did.slice(0, 4)).toEqual(["detach a 7", "forget a 7", "detach c 7", "forget c 7"]);
});

test("of deleted conversations all that was stored is removed before that is noted", async () => {
  const it = home({ gone: ["g", "h"] });
  await it.shared.clear();
  expect(it.did).toEqual(["clear", "clear g", "cleared g", "clear h", "cleared h"]);
});

test("copies here of what another machine deleted go too, however many there are", async () => {
  const marked = Array.from({ length: 1_001 }, (_, at) => (at === 500 || at === 1_000 ? `x${at}` : `k${at}`));
  const it = home({ checkpoints: marked });
  await it.shared.dropCopies(async () => new Set());
  expect(it.did).toEqual(["drop copies", "detach x500 Infinity", "detach x1000 Infinity", "clear"]);
  expect(it.asked.map(({ length }) => length)).toEqual([500, 500, 1]);
});
