import { afterEach, expect, mock, spyOn, test } from "bun:test";
import type { PersonInput } from "../../core/live-page.ts";
import { handClock } from "../../testing/machine/hand-clock.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { createHolds, type HoldBounds } from "./holds.ts";

const textOf = (text: string): PersonInput => ({ type: "text", text });
const { signal } = new AbortController();
afterEach(() => mock.restore());

/** A thing to be shared, which writes down what is done to it. */
async function shared(bounds: Partial<HoldBounds> = {}) {
  const opened = await workspaceForTest();
  const { workspace } = opened;
  const done: string[] = [];
  const state = {
    thing: {} as object | undefined,
    use: (_: PersonInput) => Promise.resolve(),
    back: Promise.resolve(),
  };
  const holds = createHolds(
    {
      name: "page",
      peek: () => state.thing,
      async use(_, input) {
        await state.use(input);
        done.push(input.type === "text" ? input.text : input.type);
      },
      async handedBack(_, { root }, seconds) {
        await state.back;
        done.push(`back ${root === workspace.root} ${seconds}`);
      },
    },
    bounds,
  );
  return { workspace, done, state, holds, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

/** The same in a person's hands. */
async function held() {
  const page = await shared();
  await page.holds.take(page.workspace);
  const send = (text: string, burst?: { id: string; number: number }) =>
    page.holds.input(page.workspace, [textOf(text)], burst);
  return { ...page, send };
}

/** What a promise has come to by now. */
async function stateOf(promise: Promise<unknown>): Promise<string> {
  const ended = promise.then(
    () => "done",
    () => "failed",
  );
  return await Promise.race([ended, Bun.sleep(20).then(() => "waiting")]);
}

test("requests of one burst are carried out in order, however they arrive, and others meanwhile", async () => {
  await using page = await held();
  const last = page.send("letters", { id: "a", number: 2 });
  const second = page.send("release", { id: "a", number: 1 });
  await page.send("other", { id: "b", number: 0 });
  await page.send("press", { id: "a", number: 0 });
  await Promise.all([last, second]);
  expect(page.done).toEqual(["other", "press", "release", "letters"]);
});

test("a request whose predecessor never comes is carried out after a moment", async () => {
  await using page = await held();
  const begun = performance.now();
  await page.send("late", { id: "a", number: 1 });
  expect(performance.now() - begun).toBeLessThan(10_000);
  await page.send("next", { id: "a", number: 2 });
  expect(page.done).toEqual(["late", "next"]);
});

test("what is not open cannot be taken, and what is not held cannot be used", async () => {
  await using page = await shared();
  await expect(page.holds.input(page.workspace, [textOf("x")])).rejects.toMatchObject({
    code: "conflict",
    message: "You don't have the page: it was handed back.",
  });
  page.state.thing = undefined;
  await expect(page.holds.take(page.workspace)).rejects.toMatchObject({
    code: "conflict",
    message: "No page is open.",
  });
  expect(page.holds.isHeld(page.workspace)).toBe(false);
  await page.holds.handBack(page.workspace);
  expect(page.done).toEqual([]);
});

test("a person has it once the agent's call has ended, and the agent goes on once it is handed back", async () => {
  await using page = await shared();
  const { holds, workspace } = page;
  const work = Promise.withResolvers<void>();
  const first = holds.turn(workspace, signal, async (wasUsed) => {
    await work.promise;
    return wasUsed;
  });
  const taken = holds.take(workspace);
  expect([await stateOf(taken), holds.isHeld(workspace)]).toEqual(["waiting", true]);
  work.resolve();
  await taken;
  expect(await first).toBe(false);
  const next = holds.turn(workspace, signal, async (wasUsed) => wasUsed);
  expect(await stateOf(next)).toBe("waiting");
  await holds.input(workspace, [textOf("a"), textOf("b")]);
  await holds.take(workspace);
  expect(await stateOf(next)).toBe("waiting");
  await Promise.all([holds.handBack(workspace), holds.handBack(workspace)]);
  expect([page.done, holds.isHeld(workspace)]).toEqual([["a", "b", "back true 1"], false]);
  expect(await next).toBe(true);
  // Until the agent has seen it.
  expect(await holds.turn(workspace, signal, async (wasUsed) => wasUsed)).toBe(true);
  holds.seen(workspace);
  expect(await holds.turn(workspace, signal, async (wasUsed) => wasUsed)).toBe(false);
  await expect(holds.input(workspace, [textOf("late")])).rejects.toMatchObject({ code: "conflict" });
});

test("an agent waits through one hold after another, and no longer than its call", async () => {
  await using page = await held();
  const { holds, workspace } = page;
  const next = holds.turn(workspace, signal, async () => "turn");
  const given = new AbortController();
  const abandoned = holds.turn(workspace, given.signal, async () => "turn");
  given.abort(new Error("enough"));
  await expect(abandoned).rejects.toThrow("enough");
  // Taken again as soon as it was handed back.
  const back = holds.handBack(workspace);
  await holds.take(workspace);
  await back;
  expect([await stateOf(next), holds.isHeld(workspace)]).toEqual(["waiting", true]);
  await holds.handBack(workspace);
  expect(await next).toBe("turn");
});

test("what a person took and did not use was not used, and inputs that fail hold up none after them", async () => {
  await using page = await held();
  const { holds, workspace, state } = page;
  await holds.handBack(workspace);
  expect([page.done, await holds.turn(workspace, signal, async (wasUsed) => wasUsed)]).toEqual([[], false]);
  await holds.take(workspace);
  const going = Promise.withResolvers<void>();
  state.use = async (input) => {
    await going.promise;
    if (input.type === "text" && input.text === "fails") throw new Error("no such element");
  };
  const failing = page.send("fails").catch((error: Error) => error.message);
  const after = page.send("after");
  const back = holds.handBack(workspace);
  expect(await stateOf(back)).toBe("waiting");
  await expect(page.send("too late")).rejects.toMatchObject({ code: "conflict" });
  going.resolve();
  expect(await failing).toBe("no such element");
  await after;
  await back;
  expect(page.done).toEqual(["after", "back true 1"]);
});

test("a hold of a page that another has replaced is over, and the agent does not wait for it", async () => {
  await using page = await held();
  const { holds, workspace, state } = page;
  await page.send("first");
  state.thing = {};
  expect(await holds.turn(workspace, signal, async (wasUsed) => wasUsed)).toBe(false);
  expect(holds.isHeld(workspace)).toBe(false);
  await expect(page.send("x")).rejects.toMatchObject({ code: "conflict" });
  await holds.take(workspace);
  await page.send("second");
  expect(page.done).toEqual(["first", "second"]);
});

test("a person who does nothing for two minutes has it no longer, and nobody has it for over half an hour", async () => {
  const looks = spyOn(globalThis, "setInterval");
  const clock = spyOn(performance, "now");
  let now = 1_000;
  clock.mockImplementation(() => now);
  await using page = await held();
  const look = (call: number) => {
    const [work] = looks.mock.calls[call] ?? [];
    if (typeof work === "function") work();
  };
  const over = async () => {
    for (let turn = 0; turn < 500 && holds.isHeld(workspace); turn++) await Bun.sleep(1);
    return !holds.isHeld(workspace);
  };
  const { holds, workspace } = page;
  const minute = 60_000;
  now += 2 * minute;
  look(0);
  expect(holds.isHeld(workspace)).toBe(true);
  await page.send("still here");
  now += 2 * minute + 1;
  look(0);
  expect(await over()).toBe(true);
  expect(page.done).toEqual(["still here", "back true 240"]);

  await holds.take(workspace);
  for (let spent = 0; spent < 30; spent++) {
    now += minute;
    await page.send("busy");
    look(1);
    look(0);
  }
  expect(holds.isHeld(workspace)).toBe(true);
  now += 1;
  look(1);
  expect(await over()).toBe(true);
  expect(page.done.at(-1)).toBe("back true 1800");
});

test("a page that the agent does not let go of is not taken, and can be tried again", async () => {
  await using page = await shared();
  const { holds, workspace } = page;
  const work = Promise.withResolvers<void>();
  const turn = holds.turn(workspace, signal, () => work.promise);
  const clock = handClock();
  const taking = holds.take(workspace);
  await clock.rest();
  await clock.next();
  await expect(taking).rejects.toMatchObject({
    code: "conflict",
    message: "The agent is still at work on the page. Try again in a moment.",
  });
  expect([clock.waits, holds.isHeld(workspace)]).toEqual([[15_000], false]);
  mock.restore();
  work.resolve();
  await turn;
  await holds.take(workspace);
  expect(holds.isHeld(workspace)).toBe(true);
});

test("inputs are carried out one after the other, and a page that is being handed back is taken after that", async () => {
  await using page = await held();
  const { holds, workspace, state } = page;
  const [slow, back] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  state.use = (input) => (input.type === "text" && input.text === "slow" ? slow.promise : Promise.resolve());
  const both = Promise.all([page.send("slow"), page.send("quick")]);
  expect([await stateOf(both), page.done]).toEqual(["waiting", []]);
  slow.resolve();
  await both;
  state.back = back.promise;
  const ending = holds.handBack(workspace);
  const again = holds.take(workspace);
  expect(await stateOf(again)).toBe("waiting");
  back.resolve();
  await Promise.all([ending, again]);
  expect(page.done).toEqual(["slow", "quick", "back true 1"]);
  expect(holds.isHeld(workspace)).toBe(true);
});

test("other bounds may be set, and a person's time begins when the agent's call has ended", async () => {
  const looks = spyOn(globalThis, "setInterval");
  let now = 1_000;
  spyOn(performance, "now").mockImplementation(() => now);
  await using page = await shared({ idleMs: 50 });
  const { holds, workspace } = page;
  const work = Promise.withResolvers<void>();
  const turn = holds.turn(workspace, signal, () => work.promise);
  const taken = holds.take(workspace);
  await stateOf(taken);
  now += 100;
  work.resolve();
  await Promise.all([turn, taken]);
  const [look, everyMs] = looks.mock.calls[0] ?? [];
  expect(everyMs).toBe(50);
  const lookNow = async () => {
    if (typeof look === "function") look();
    await Bun.sleep(1);
    return holds.isHeld(workspace);
  };
  expect(await lookNow()).toBe(true);
  now += 51;
  expect(await lookNow()).toBe(false);
});
