import { describe, expect, test } from "bun:test";
import type { Json } from "../../core/json.ts";
import type { Run, RunDefinition } from "../../core/runs/run.ts";
import { body, type Cases, codeOf, start, until, untilAny } from "./cases.ts";

type Body = (run: Run) => Promise<Json>;

const original: Body = async (run) => {
  await run.step("fetch", async () => 1);
  await run.signal("go");
  return run.step("write", async () => "original");
};

/** Each would do something other than what the journal records. */
const changed: Readonly<Record<string, Body>> = {
  "another name": async (run) => run.step("load", async () => "changed"),
  "another kind": async (run) => run.signal("fetch"),
  "an operation put before": async (run) => {
    await run.poll("note");
    return run.step("fetch", async () => "changed");
  },
  "branches in the place of a step": async (run) => run.all([async (branch) => branch.step("fetch", async () => 1)]),
  "an end before what was done": async (run) => run.step("fetch", async () => "changed"),
  "a failure before what was done": async () => {
    throw new Error("changed");
  },
};

/** The events a body emits at each of its places. */
type Emitted = Readonly<Record<"before" | "between" | "within" | "behind", readonly string[]>>;
const nothing: Emitted = { before: [], between: [], within: [], behind: [] };
const telling: Emitted = { before: ["a"], between: ["b", "b", "c"], within: ["d"], behind: ["e"] };

/**
 * What the first code emits until the run waits, what changed code emits from then on, and all
 * events at the end.
 */
const retold: Readonly<Record<string, { first: Emitted; now: Emitted; all: readonly string[] }>> = {
  "what the code before told": { first: telling, now: telling, all: ["a", "b", "b", "c", "d", "e"] },
  more: { first: nothing, now: telling, all: ["a", "b", "b", "c", "d", "e"] },
  less: { first: telling, now: nothing, all: ["a", "b", "b", "c", "d"] },
  "one more of the same": {
    first: telling,
    now: { ...telling, between: ["b", "b", "b", "c"] },
    all: ["a", "b", "b", "b", "c", "d", "e"],
  },
  "the same in another order, with something new among it": {
    first: telling,
    now: { ...telling, between: ["c", "x", "b", "b"] },
    all: ["a", "b", "b", "c", "d", "e", "x"],
  },
  "something else": {
    first: telling,
    now: { before: ["x"], between: ["y"], within: ["z"], behind: ["z"] },
    all: ["a", "b", "b", "c", "d", "x", "y", "z", "z"],
  },
};

/**
 * Code that changed between two executions of a run: the run pauses, and nothing else is executed.
 */
export function changedCodeCases(cases: Cases): void {
  describe("changed code", () => {
    for (const [what, execute] of Object.entries(changed)) {
      test(`${what} pauses the run with non_deterministic, and the right code continues it`, async () => {
        const first = cases.working(original);
        const run = await start(first);
        await until(first, run.id, "waiting");
        await first.close();

        const second = cases.working(execute);
        await second.deliver(run.id, "go", null);
        const paused = await until(second, run.id, "paused");
        expect(paused.error?.code).toBe("non_deterministic");
        const events = (await second.events(run.id)).map((stored) => stored.event);
        expect(events).toEqual([{ type: "run-paused", error: paused.error }]);
        await second.close();

        await cases.open().resume(run.id);
        expect((await cases.open().get(run.id))?.error).toBeUndefined();
        const third = cases.working(original);
        const ended = await until(third, run.id, "completed");
        expect(ended.output).toBe("original");
        expect(ended.error).toBeUndefined();
        expect((await third.events(run.id)).map((stored) => stored.event.type)).toEqual([
          "run-paused",
          "run-resumed",
          "run-ended",
        ]);
      });
    }

    for (const [what, { first: told, now: tells, all }] of Object.entries(retold)) {
      test(`code that tells ${what} goes on, and every event is there once`, async () => {
        const teller = (lists: Emitted) => async (run: Run) => {
          const tell = (own: Run, types: readonly string[]) => {
            for (const type of types) own.emit({ type });
          };
          tell(run, lists.before);
          await run.step("fetch", async () => 1);
          tell(run, lists.between);
          await run.all([
            async (own) => {
              tell(own, lists.within);
              return own.signal("go");
            },
            async (own) => own.signal("more"),
          ]);
          tell(run, lists.behind);
          return run.step("write", async () => "written");
        };
        const first = cases.working(teller(told));
        const run = await start(first);
        await until(first, run.id, "waiting");
        await first.close();
        for (const name of ["go", "more"]) {
          const next = cases.working(teller(tells));
          await next.deliver(run.id, name, null);
          await until(next, run.id, name === "go" ? "waiting" : "completed");
          await next.close();
        }
        const types = (await cases.open().events(run.id)).map(({ event }) => event.type);
        expect(types.toSorted()).toEqual([...all, "run-ended"].toSorted());
      });
    }

    test("while two versions are at work only runs whose code changed pause, and each ends having written once", async () => {
      const written: string[] = [];
      const version = (name: string): RunDefinition[] =>
        ["test", "unchanged"].map((kind) => ({
          kind,
          async execute(run) {
            await run.step(kind === "test" ? name : "fetch", async () => null);
            await run.signal("go");
            return run.step("write", async () => written.push(run.id), { effect: "once" });
          },
        }));
      const [first, second] = [cases.open(), cases.open()];
      first.work(version("fetch"));
      const runs = await Promise.all(
        Array.from({ length: 12 }, (_, n) => start(first, { kind: n % 2 === 0 ? "test" : "unchanged" })),
      );
      for (const { id } of runs) await until(first, id, "waiting");
      second.work(version("load"));
      for (const [n, { id }] of runs.entries()) await [first, second][(n >> 1) % 2]?.deliver(id, "go", null);
      for (const { id, kind } of runs) {
        if (kind === "unchanged") await until(first, id, "completed");
        else if ((await untilAny(first, id, ["completed", "paused"])).status === "paused")
          expect((await first.get(id))?.error?.code).toBe("non_deterministic");
      }
      await second.close();
      const { runs: paused } = await first.list({ statuses: ["paused"], limit: 12 });
      for (const { id } of paused) await first.resume(id);
      for (const { id } of runs) await until(first, id, "completed");
      expect(written.toSorted()).toEqual(runs.map(({ id }) => id).toSorted());
    });

    test("a branch that won its race and now has more operations pauses the run", async () => {
      const race =
        (win: Body): Body =>
        async (run) => {
          await run.race<Json>([(branch) => branch.signal("never"), win]);
          return run.signal("go");
        };
      const first = cases.working(race(async (branch) => branch.step("win", async () => 1)));
      const run = await start(first);
      await until(first, run.id, "waiting");
      await first.close();
      const second = cases.working(
        race(async (branch) => {
          await branch.step("win", async () => 1);
          return branch.step("more", async () => 2);
        }),
      );
      await second.deliver(run.id, "go", null);
      expect((await until(second, run.id, "paused")).error?.code).toBe("non_deterministic");
    });

    test("a paused run keeps its signals and can be canceled; resume does nothing to other runs", async () => {
      const first = cases.working(original);
      const run = await start(first);
      await until(first, run.id, "waiting");
      await first.resume(run.id);
      expect((await first.get(run.id))?.status).toBe("waiting");
      await first.close();
      const second = cases.open();
      second.work([body(async (own) => own.step("load", async () => 1))]);
      await second.deliver(run.id, "go", null);
      await until(second, run.id, "paused");
      expect(await second.deliver(run.id, "more", null)).toBe("stored");
      expect((await second.get(run.id))?.status).toBe("paused");
      await second.cancel(run.id);
      expect((await second.get(run.id))?.status).toBe("canceled");
      expect(await codeOf(second.resume(run.id))).toBe("run_ended");
    });
  });
}
