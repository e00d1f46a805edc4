import { describe, expect, test } from "bun:test";
import type { Engine } from "../../core/runs/engine.ts";
import type { RunBody, RunDefinition } from "../../core/runs/run.ts";
import { type Cases, codeOf, request, start, until, untilAny } from "./cases.ts";

/** A body that waits between two steps, whose names tell its version. */
function version(body: number, done?: (runId: string) => void): RunBody {
  return {
    body,
    async execute(run) {
      await run.step(`first of ${body}`, async () => body);
      await run.signal("go");
      return run.step(`last of ${body}`, async () => {
        done?.(run.id);
        return body;
      });
    },
  };
}

/** A release: the newest of these versions, and the former ones. */
function release(versions: readonly number[], done?: (runId: string) => void): RunDefinition {
  const [newest, ...former] = versions.map((body) => version(body, done));
  if (newest === undefined) throw new Error("A release has a version.");
  return { kind: "test", ...newest, former };
}

/** Versions of a body: a run goes on with the one it began with, wherever that is. */
export function bodyCases(cases: Cases): void {
  const working = (...versions: number[]): Engine => {
    const engine = cases.open();
    engine.work([release(versions)]);
    return engine;
  };
  const waiting = async (engine: Engine) => (await until(engine, (await start(engine)).id, "waiting")).id;
  const typesOf = async (engine: Engine, id: string) => (await engine.events(id)).map(({ event }) => event.type);

  describe("versions of a body", () => {
    test("a run goes on with the body it began with, over two releases, and a new run begins with the newest", async () => {
      const first = working(1);
      const [soon, late] = [await waiting(first), await waiting(first)];
      await first.close();
      const second = working(2, 1);
      await second.deliver(soon, "go", null);
      expect((await until(second, soon, "completed")).output).toBe(1);
      const own = await waiting(second);
      await second.close();
      const third = working(3, 2, 1);
      for (const id of [late, own]) await third.deliver(id, "go", null);
      expect((await until(third, late, "completed")).output).toBe(1);
      expect((await until(third, own, "completed")).output).toBe(2);
    });

    test("a run whose body is no longer there pauses and says which release to start; there it goes on by itself", async () => {
      const first = working(1);
      const id = await waiting(first);
      await first.close();
      const third = working(3, 2);
      expect((await third.get(id))?.status).toBe("waiting");
      await third.deliver(id, "go", null);
      const { error } = await until(third, id, "paused");
      // A principal sees it among its own runs.
      for (const filter of [{}, { statuses: ["paused" as const] }])
        expect((await third.list({ ...filter, principal: request.principal, limit: 9 })).runs).toMatchObject([{ id }]);
      expect(error).toEqual({
        code: "version_missing",
        message:
          "The run began with version 1 of the body of test, and what runs here has version 3 and 2. Start the release that has version 1, and the run goes on; or cancel it and send the task again.",
      });
      const [paused] = await third.events(id);
      expect(paused?.event).toEqual({ type: "run-paused", error });
      await third.resume(id);
      expect((await until(third, id, "paused")).error).toEqual(error);
      await third.close();

      const back = working(2, 1);
      const ended = await until(back, id, "completed");
      expect([ended.output, ended.error]).toEqual([1, undefined]);
      expect(await typesOf(back, id)).toEqual([
        ...["run-paused", "run-resumed", "run-paused", "run-resumed"],
        "run-ended",
      ]);
    });

    test("a run of a newer version pauses where only older ones are, and goes on once the newer is back", async () => {
      const newer = working(2, 1);
      const id = await waiting(newer);
      await newer.close();
      const older = working(1);
      await older.deliver(id, "go", null);
      expect((await until(older, id, "paused")).error?.message).toContain(
        "has version 1. Start the release that has version 2",
      );
      const again = working(2, 1);
      expect((await until(again, id, "completed")).output).toBe(2);
    });

    test("while two releases are at work each run is executed by one that has its body, and none pauses", async () => {
      const by = { older: new Set<string>(), newer: new Set<string>() };
      const older = cases.open();
      older.work([release([2, 1], (id) => by.older.add(id))]);
      const old = await Promise.all(Array.from({ length: 6 }, () => waiting(older)));
      const newer = cases.open();
      newer.work([release([3], (id) => by.newer.add(id))]);
      // Either may begin a run that has not begun.
      const fresh = (await Promise.all(Array.from({ length: 12 }, (_, n) => start(n % 2 ? older : newer)))).map(
        ({ id }) => id,
      );
      for (const id of fresh) await until(older, id, "waiting");
      for (const [n, id] of [...old, ...fresh].entries()) await (n % 2 ? older : newer).deliver(id, "go", null);
      for (const id of [...old, ...fresh]) {
        const { status, output } = await untilAny(older, id, ["completed", "paused"]);
        expect(status).toBe("completed");
        expect(by[output === 3 ? "newer" : "older"]).toContain(id);
        expect(await typesOf(older, id)).toEqual(["run-ended"]);
      }
      for (const id of old) expect(by.older).toContain(id);
      expect([...by.older].filter((id) => by.newer.has(id))).toEqual([]);
    });

    test("what the last process of a release leaves pauses when it goes, and can be canceled", async () => {
      const older = working(1);
      const id = await waiting(older);
      // Only now: it would begin the run with its own body if it was the faster one.
      const newer = working(2);
      await older.close();
      await newer.deliver(id, "go", null);
      await until(newer, id, "paused");
      await newer.cancel(id);
      expect((await newer.get(id))?.status).toBe("canceled");
    });

    test("a run that was accepted where nothing executes begins with the newest body of whoever takes it", async () => {
      const idle = cases.open();
      const { id } = await start(idle);
      const engine = working(2, 1);
      await until(engine, id, "waiting");
      await engine.deliver(id, "go", null);
      expect((await until(engine, id, "completed")).output).toBe(2);
    });

    test("versions out of order and more than two former ones are refused", async () => {
      const engine = cases.open();
      const refused = async (versions: readonly number[]) =>
        codeOf(Promise.try(() => engine.work([release(versions)])));
      for (const versions of [[1, 2], [2, 2], [0], [1.5], [4, 3, 2, 1]])
        expect(await refused(versions)).toBe("config_invalid");
      expect(await refused([3, 2, 1])).toBe("no error");
    });
  });
}
