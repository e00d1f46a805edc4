import { expect, spyOn, test } from "bun:test";
import type { Run } from "../../core/runs/run.ts";
import { executionOn, turns } from "../../testing/durable/execution-on.ts";
import { emptyState, MemoryRunStore } from "../../testing/durable/memory-run-store.ts";
import { StoreUnavailable, type WaitAnswer, type WaitRequest } from "./run-store.ts";

/** What the body returns on a store of another machine, whose answers take a while. */
async function outputOn(store: MemoryRunStore, execute: (run: Run) => Promise<unknown>) {
  expect(await (await executionOn(store, execute)).done).toBe("ended");
  const { ending } = store.state;
  return ending?.status === "completed" ? ending.output : ending;
}

test("a poll finds the signal that a wait took for a branch which had lost by then", async () => {
  class SlowWaits extends MemoryRunStore {
    readonly answered = Promise.withResolvers<void>();

    override async wait(request: WaitRequest): Promise<WaitAnswer> {
      const answer = await super.wait(request);
      this.answered.resolve();
      await turns();
      return answer;
    }
  }
  const store = new SlowWaits(emptyState());
  store.state.signals.push({ name: "go", payload: '"went"' });
  const output = await outputOn(store, async (run) => {
    await run.race<unknown>([
      (branch) => branch.signal("go"),
      (branch) => branch.step("decide", () => store.answered.promise.then(() => null)),
    ]);
    return run.poll("go");
  });
  expect(output).toEqual(["went"]);
});

test("steps that begin in one turn ask once whether they may, and those of later turns begin after them", async () => {
  const asked: (() => void)[] = [];
  class ReversedReads extends MemoryRunStore {
    override async leaseState(): Promise<"held"> {
      await new Promise<void>((resolve) => asked.push(resolve));
      return "held";
    }
  }
  const begun: string[] = [];
  const outcome = outputOn(new ReversedReads(emptyState()), async (run) => {
    const note = (name: string) => run.step(name, async () => void begun.push(name), { effect: "pure" });
    const first = ["a", "b", "c"].map(note);
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([...first, ...["d", "e"].map(note)]);
    return begun;
  });
  // The newest question is answered first.
  for (let answers = 0, turns = 0; answers < 2 && turns < 1000; turns++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (turns % 20 === 19 && asked.length > 0)
      answers += asked
        .splice(0)
        .toReversed()
        .map((answer) => answer()).length;
  }
  expect(await outcome).toEqual(["a", "b", "c", "d", "e"]);
});

test("a step that found the store away begins again only if the run is still its own", async () => {
  let leaseState: "held" | "lost" = "held";
  class TakenOver extends MemoryRunStore {
    override leaseState() {
      return Promise.resolve(leaseState as "held");
    }
  }
  const begun: string[] = [];
  const store = new TakenOver(emptyState());
  const execute = (run: Run) =>
    run.step(
      "ask",
      async () => {
        begun.push("asked");
        if (begun.length > 1) return "answer";
        leaseState = "lost";
        throw new StoreUnavailable("it was restarted");
      },
      { effect: "pure" },
    );
  expect(await (await executionOn(store, execute)).done).toBe("lost");
  expect(begun).toEqual(["asked"]);
});

test("a step that must happen once is not begun again because the store was away", async () => {
  const begun: string[] = [];
  const output = await outputOn(new MemoryRunStore(emptyState()), async (run) => {
    const pay = async () => {
      begun.push("paid");
      if (begun.length === 1) throw new StoreUnavailable("it was restarted");
      return "paid twice";
    };
    return run.step("pay", pay, { effect: "once" }).catch(({ code }) => code);
  });
  expect([output, begun]).toEqual(["storage_unavailable", ["paid"]]);
});

test("a step for which the machine lacks room is tried again until there is some; one that must happen once says what lacks", async () => {
  using sleep = spyOn(Bun, "sleep").mockResolvedValue(undefined);
  for (const [errno, lack] of [
    ["ENOSPC", "the disk is full"],
    ["EMFILE", "too many files are open"],
    ["EROFS", "the disk is read-only"],
  ]) {
    let tries = 0;
    const write = async () => {
      if (++tries < 4) throw Object.assign(new Error(`${errno}: write`), { code: errno });
      return "written";
    };
    const output = await outputOn(new MemoryRunStore(emptyState()), (run) => run.step("keep", write));
    expect([output, tries]).toEqual(["written", 4]);
    tries = 0;
    const once = await outputOn(new MemoryRunStore(emptyState()), (run) =>
      run.step("pay", write, { effect: "once" }).catch(({ code, message }) => `${code}: ${message}`),
    );
    expect([once, tries]).toEqual([`storage_unavailable: Step "pay" failed: ${lack} (${errno}).`, 1]);
  }
  expect(new Set(sleep.mock.calls.map(([ms]) => ms))).toEqual(new Set([1_000]));
});

test("a step that finds the store away is tried again for a minute, and then that is its failure", async () => {
  for (const [awayMs, tried] of [
    [59_000, 2],
    [60_001, 1],
  ] as const) {
    let now = 0;
    const clock = spyOn(performance, "now").mockImplementation(() => now);
    const sleep = spyOn(Bun, "sleep").mockResolvedValue(undefined);
    let tries = 0;
    const store = new MemoryRunStore(emptyState());
    const execution = await executionOn(store, (run) =>
      run
        .step(
          "ask",
          async () => {
            if (++tries > 1) return "answer";
            now += awayMs;
            throw new StoreUnavailable("it was restarted");
          },
          { effect: "pure" },
        )
        .catch(({ code }) => code),
    );
    const outcome = await execution.done;
    clock.mockRestore();
    // Not all the time: others want the store back too.
    const pauses = sleep.mock.calls.map(([ms]) => ms);
    sleep.mockRestore();
    expect(pauses).toEqual(tried === 2 ? [100] : []);
    const output = tried === 2 ? "answer" : "storage_unavailable";
    expect([outcome, tries, store.state.ending]).toEqual(["ended", tried, { status: "completed", output }]);
  }
});
