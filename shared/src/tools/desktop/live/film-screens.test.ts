import { expect, test } from "bun:test";
import { AppError } from "../../../core/errors.ts";
import type { Workspace } from "../../../core/workspace.ts";
import type { SessionPool } from "../../shell/session-pool.ts";
import { shareScreens } from "./shared-screens.ts";

/** Watches a screen of which pictures cannot be taken: first for this reason, then for that. */
async function watching(...failures: readonly Error[]) {
  const session = {};
  let calls = 0;
  const displays = {
    peek: () => session,
    run: async () => {
      throw failures[Math.min(calls++, failures.length - 1)] ?? new Error("none");
    },
  } as unknown as SessionPool;
  const screens = shareScreens({ displays, size: { width: 64, height: 48 } });
  const watch = screens.live({ root: "/w" } as Workspace).watch(AbortSignal.timeout(4_000));
  expect((await watch.next()).value).toEqual({ page: "open", held: false });
  const next = await watch.next().catch((error: unknown) => error);
  return { next, calls };
}

test("a bug in taking pictures of a screen reaches whoever watches, and what is expected is tried again", async () => {
  const bug = new TypeError("a bug");
  const busy = new AppError("unavailable", "The display has ended.");
  expect(await watching(busy, bug)).toEqual({ next: bug, calls: 2 });
});
