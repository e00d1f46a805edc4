import { expect, test } from "bun:test";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { shutdown } from "../../core/runs/shutdown.ts";
import type { Workspace } from "../../core/workspace.ts";
import type { Session, SessionCallOptions, SessionCallOutcome } from "../../machine/sandbox/session.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { createSessionPool } from "./session-pool.ts";

const finished: SessionCallOutcome = { state: "finished", payload: "0" } as SessionCallOutcome;

/** A pool whose sessions do what a test says, and what became of them. */
async function scene(options: { readonly most?: number; readonly idleMs?: number } = {}) {
  const rooms: AsyncDisposable[] = [];
  const [room, home] = await workspaceForTest().then((each) => [each.workspace, each] as const);
  rooms.push(home);
  const opened: { root: string; closed: boolean; isAlive: boolean; calls: string[] }[] = [];
  const does = new Map<string, (options: SessionCallOptions) => Promise<SessionCallOutcome>>();
  const open = async ({ root }: { readonly root: string }): Promise<Session> => {
    const state = { root, closed: false, isAlive: true, calls: [] as string[] };
    opened.push(state);
    return {
      call: async (code: string, callOptions: SessionCallOptions) => {
        state.calls.push(code);
        return (await does.get(code)?.(callOptions)) ?? finished;
      },
      alive: () => state.isAlive && !state.closed,
      close: async () => {
        state.closed = true;
      },
    } as unknown as Session;
  };
  const make = () => createSessionPool({ name: "test", open, ...options });
  const pool = make();
  const conversation = async () => {
    const room = await workspaceForTest();
    rooms.push(room);
    const run = async (code = "x", signal = new AbortController().signal, on = pool) =>
      on.run(contextForTest(room.workspace), code, { signal, timeoutMs: 1_000, onOutput: () => undefined });
    return { workspace: room.workspace, run, lost: async () => (await run()).restarted };
  };
  return {
    ...{ room, pool, make, opened, does, conversation },
    async [Symbol.asyncDispose]() {
      await pool.close();
      for (const room of rooms) await room[Symbol.asyncDispose]();
    },
  };
}

test("a session is kept from call to call, and the first is not said to replace another", async () => {
  await using it = await scene();
  const one = await it.conversation();
  expect([await one.lost(), await one.lost()]).toEqual([undefined, undefined]);
  expect(it.opened.map(({ calls }) => calls)).toEqual([["x", "x"]]);
});

test.each<[string, SessionCallOutcome | Error, string]>([
  ["ended", { state: "ended", exitCode: 3 } as SessionCallOutcome, "it ended with exit code 3"],
  ["was lost", { state: "lost" } as SessionCallOutcome, "it did not stop at its limit"],
  ["was canceled", new Error("canceled"), "the call before was canceled"],
])("after a call that %s the next one learns why its session is new, once", async (_, outcome, why) => {
  await using it = await scene();
  const one = await it.conversation();
  it.does.set("end", async () => {
    if (outcome instanceof Error) throw outcome;
    return outcome;
  });
  if (outcome instanceof Error) await expect(one.run("end")).rejects.toBe(outcome);
  else expect(await one.run("end")).toEqual(outcome);
  expect(it.opened[0]?.closed).toBe(true);
  expect([await one.lost(), await one.lost()]).toEqual([why, undefined]);
  expect(it.opened).toHaveLength(2);
});

test("a session that ended by itself, was restarted, released, or left by an earlier process is replaced with the reason", async () => {
  await using it = await scene();
  const one = await it.conversation();
  await one.run();
  for (const session of it.opened) session.isAlive = false;
  expect(await one.lost()).toBe("it had ended by itself");
  await it.pool.restart(one.workspace);
  expect(await one.lost()).toBe("a restart was asked for");
  await it.pool.release(one.workspace);
  expect(it.opened.at(-1)?.closed).toBe(true);
  expect(await one.lost()).toBe("its task was stopped");
  await using later = { pool: it.make(), [Symbol.asyncDispose]: () => later.pool.close() };
  expect((await one.run("x", undefined, later.pool)).restarted).toBe("the server was restarted");
  const other = await it.conversation();
  await it.pool.restart(other.workspace);
  await it.pool.release(other.workspace);
  expect(await other.lost()).toBeUndefined();
});

test("a call that a shutdown ended is not called canceled: the next one learns of a restart", async () => {
  await using it = await scene();
  const one = await it.conversation();
  const stop = new AbortController();
  const reason = shutdown();
  it.does.set("long", async () => {
    stop.abort(reason);
    throw reason;
  });
  await expect(one.run("long", stop.signal)).rejects.toBe(reason);
  expect(await one.lost()).toBe("the server was restarted");
});

test("a call that waits its turn ends at once when it is canceled, and never runs", async () => {
  await using it = await scene();
  const one = await it.conversation();
  const gate = Promise.withResolvers<SessionCallOutcome>();
  it.does.set("long", () => gate.promise);
  const running = one.run("long");
  const stop = new AbortController();
  const waiting = one.run("never", stop.signal);
  stop.abort("stopped");
  await expect(waiting).rejects.toBe("stopped");
  await expect(one.run("never", AbortSignal.abort("before"))).rejects.toBe("before");
  gate.resolve(finished);
  expect((await running).state).toBe("finished");
  expect((await one.run("after")).restarted).toBeUndefined();
  expect(it.opened.map(({ calls }) => calls)).toEqual([["long", "after"]]);
});

test("as many sessions as allowed stay open; for one more the one unused the longest is closed", async () => {
  await using it = await scene({ most: 2 });
  const [a, b, c] = [await it.conversation(), await it.conversation(), await it.conversation()];
  await a.run();
  await b.run();
  expect(it.opened.map(({ closed }) => closed)).toEqual([false, false]);
  await a.run();
  await c.run();
  expect(it.opened.map(({ closed }) => closed)).toEqual([false, true, false]);
  expect(await b.lost()).toBe("too many others were in use");
  expect(it.opened.map(({ closed }) => closed)).toEqual([true, true, false, false]);
});

test("a pool that is told nothing keeps many sessions, for a while; only one that lives is shown", async () => {
  await using it = await scene();
  const several = [await it.conversation(), await it.conversation(), await it.conversation()];
  for (const one of several) await one.run();
  await Bun.sleep(60);
  expect(it.opened.map(({ closed }) => closed)).toEqual([false, false, false]);
  const [first] = several;
  const workspace = first?.workspace ?? it.room;
  expect(it.pool.peek(workspace)).toBeDefined();
  expect(it.pool.peek(workspace)).toBe(it.pool.peek(workspace));
  for (const session of it.opened) session.isAlive = false;
  expect([it.pool.peek(workspace), it.pool.peek(it.room)]).toEqual([undefined, undefined]);
});

test("a session is closed when it is idle, not while it works, and its time begins anew with each call", async () => {
  await using it = await scene({ idleMs: 100 });
  const one = await it.conversation();
  it.does.set("long", () => Bun.sleep(250).then(() => finished));
  await one.run();
  await one.run("long");
  expect(await one.lost()).toBeUndefined();
  for (const deadline = Date.now() + 10_000; it.opened[0]?.closed === false && Date.now() < deadline; )
    await Bun.sleep(10);
  expect(await one.lost()).toBe("it was idle for long");
});

test("why a session is gone is known to a later process too", async () => {
  await using it = await scene({ idleMs: 1 });
  const one = await it.conversation();
  await one.run();
  const marker = join(one.workspace.metaRoot, "test-session");
  for (const end = Date.now() + 10_000; (await readFile(marker, "utf8")) === "" && Date.now() < end; )
    await Bun.sleep(5);
  await using later = { pool: it.make(), [Symbol.asyncDispose]: () => later.pool.close() };
  expect((await one.run("x", undefined, later.pool)).restarted).toBe("it was idle for long");
  expect((await one.run("x", undefined, later.pool)).restarted).toBeUndefined();
});

test("nothing is kept of conversations whose session is gone or that never had one", async () => {
  await using it = await scene();
  it.does.set("end", async () => ({ state: "ended", exitCode: 0 }) as SessionCallOutcome);
  const kept: WeakRef<object>[] = [];
  for (let n = 0; n < 40; n++) {
    const root = join(it.room.root, `${n}`);
    const workspace = { root, metaRoot: join(root, "meta") } as Workspace;
    kept.push(new WeakRef(workspace));
    const signal = new AbortController().signal;
    const run = (code: string) =>
      it.pool.run(contextForTest(workspace), code, { signal, timeoutMs: 1_000, onOutput: () => undefined });
    if (n % 4 === 0) await run("end");
    if (n % 4 === 1) await run("x").then(() => it.pool.restart(workspace));
    if (n % 4 > 1) await it.pool.release(workspace);
    if (n % 4 === 3) await run("x").then(() => it.pool.release(workspace));
  }
  const alive = () => kept.filter((each) => each.deref() !== undefined).length;
  for (const end = Date.now() + 10_000; alive() > 8 && Date.now() < end; await Bun.sleep(10)) Bun.gc(true);
  expect(alive()).toBeLessThanOrEqual(8);
});

test("a session that cannot be opened fails its call alone", async () => {
  await using it = await scene();
  const one = await it.conversation();
  let fails = true;
  const open = async () => {
    if (fails) throw new Error("no shell");
    return { call: async () => finished, alive: () => true, close: async () => undefined } as unknown as Session;
  };
  const pool = createSessionPool({ name: "other", open });
  await expect(one.run("x", undefined, pool)).rejects.toThrow("no shell");
  fails = false;
  expect(await one.run("x", undefined, pool)).toEqual(finished);
  await pool.close();
});

test("closing the pool closes every session", async () => {
  await using it = await scene();
  for (let n = 0; n < 2; n++) await (await it.conversation()).run();
  await it.pool.close();
  expect(it.opened.map(({ closed }) => closed)).toEqual([true, true]);
});

test("a conversation that goes on while its former session is being forgotten keeps its new one", async () => {
  await using it = await scene();
  const one = await it.conversation();
  for (let n = 0; n < 60; n++) {
    const gate = Promise.withResolvers<SessionCallOutcome>();
    const begun = Promise.withResolvers<void>();
    it.does.set("long", () => {
      begun.resolve();
      return gate.promise;
    });
    const running = one.run("long");
    await begun.promise;
    await it.pool.release(one.workspace);
    expect(it.opened.at(-1)?.closed).toBe(true);
    gate.resolve(finished);
    await running;
    for (let turns = 4 * n; turns > 0; turns--) await new Promise(setImmediate);
    await one.run();
    expect(await one.lost()).toBeUndefined();
  }
});

test("a restart waits for the calls before it", async () => {
  await using it = await scene();
  const one = await it.conversation();
  const gate = Promise.withResolvers<SessionCallOutcome>();
  it.does.set("long", () => gate.promise);
  const running = one.run("long");
  const restarting = it.pool.restart(one.workspace);
  await Bun.sleep(20);
  expect(it.opened.map(({ closed }) => closed)).toEqual([false]);
  gate.resolve(finished);
  await Promise.all([running, restarting]);
  expect(it.opened.map(({ closed }) => closed)).toEqual([true]);
});

test("a conversation whose folders are deleted before its session ends is forgotten like any other", async () => {
  await using it = await scene();
  const one = await it.conversation();
  await one.run();
  await rm(one.workspace.metaRoot, { recursive: true });
  await it.pool.restart(one.workspace);
  expect(await one.lost()).toBeUndefined();
});
