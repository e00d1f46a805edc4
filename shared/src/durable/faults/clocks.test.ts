import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import type { Engine } from "../../core/runs/engine.ts";
import type { Run } from "../../core/runs/run.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import { until } from "../../testing/durable/until.ts";
import { createEmbeddedEngine, type EmbeddedEngineOptions } from "../sqlite/embedded-engine.ts";
import type { MachineClock } from "../sqlite/machine-clock.ts";

const hour = 3_600_000;
const request = { kind: "k", input: null, principal: "p", contextId: "c" };

/** The clocks of a machine: a test advances its time and sets its wall clock. */
function machine() {
  const own = { passed: 0, set: 0, boot: "first", booted: 0 };
  const real = performance.now();
  const passed = () => performance.now() - real + own.passed;
  const clock = (): MachineClock => ({
    boot: own.boot,
    wall: () => Math.floor(1_900_000_000_000 + passed() + own.set),
    uptime: () => passed() - own.booted,
  });
  return {
    clock,
    pass(ms: number) {
      own.passed += ms;
    },
    set(ms: number) {
      own.set += ms;
    },
    /** Reboots the machine: its uptime starts again. */
    reboot() {
      own.boot = `${own.boot}, again`;
      own.booted = passed();
    },
  };
}

/** A kind of run that sleeps for two hours, and when signaled does a step until `mayEnd`. */
function sleeper(mayEnd: Promise<void> = Promise.resolve()) {
  const done = { worked: 0, woken: 0 };
  const execute = async (run: Run) => {
    await run.all([
      async (own) => {
        await own.sleep(2 * hour);
        return own.step("woken", async () => ++done.woken);
      },
      async (own) => {
        await own.signal("go");
        return own.step("work", () => mayEnd.then(() => ++done.worked));
      },
    ]);
    return null;
  };
  return { done, definition: { kind: "k", execute } };
}

function open(options: EmbeddedEngineOptions, ...definitions: Parameters<Engine["work"]>[0]): Engine {
  const engine = createEmbeddedEngine({ pollMs: 10, leaseMs: 200, ...options });
  engine.work(definitions);
  return engine;
}

/** What the wall clock was when a worker last recorded it. */
function recordedWall(path: string): number {
  using db = new Database(path, { readonly: true });
  return db.query<{ wall: number }, []>("SELECT wall FROM clock").get()?.wall ?? 0;
}

const is = (engine: Engine, id: string, status: string) => until(async () => (await engine.get(id))?.status === status);

for (const jump of [hour, -hour, 5 * hour]) {
  test(`if the clock is set by ${jump / hour} h during a sleep, the run wakes once, at its time, and no worker takes another's runs`, async () => {
    using store = scratch();
    const { clock, pass, set } = machine();
    const enough = Promise.withResolvers<void>();
    const { done, definition } = sleeper(enough.promise);
    const one = open({ path: store.path, clock: clock() }, definition);
    const other = open({ path: store.path, clock: clock() }, definition);
    const { run } = await one.start(request);
    await is(one, run.id, "waiting");
    await one.deliver(run.id, "go", null);
    await is(one, run.id, "running");
    set(jump);
    // Longer than the lease.
    await Bun.sleep(500);
    enough.resolve();
    await is(one, run.id, "waiting");
    pass(2 * hour - 60_000);
    await Bun.sleep(100);
    expect([done.worked, done.woken]).toEqual([1, 0]);
    pass(60_000);
    await is(one, run.id, "completed");
    set(-jump);
    await Bun.sleep(100);
    expect([done.worked, done.woken]).toEqual([1, 1]);
    for (const engine of [one, other]) await engine.close();
  });
}

for (const jump of [hour, -hour, -300 * hour]) {
  test(`if the clock is set by ${jump / hour} h between two processes, the rest of a sleep stays the same, and the change is logged once`, async () => {
    using store = scratch();
    const { clock, pass, set } = machine();
    const { done, definition } = sleeper();
    const first = open({ path: store.path, clock: clock() }, definition);
    const { run } = await first.start(request);
    await first.deliver(run.id, "go", null);
    await until(() => done.worked === 1);
    await is(first, run.id, "waiting");
    pass(hour);
    await first.close();
    set(jump);
    pass(hour / 2);
    const told: string[] = [];
    const log = { warn: (_: object, message: string) => void told.push(message), error: () => undefined };
    const second = open({ path: store.path, clock: clock(), log }, definition);
    pass(hour / 2 - 60_000);
    await Bun.sleep(150);
    expect(done.woken).toBe(0);
    pass(60_000);
    await is(second, run.id, "completed");
    expect(done.woken).toBe(1);
    const seconds = Math.abs(jump) / 1000;
    expect(told).toEqual([
      expect.stringContaining(`This machine's clock was set ${jump > 0 ? "forward" : "back"} by ${seconds} s.`),
    ]);
    await second.close();
  });
}

test("across a reboot the wall clock says how much time passed, and none did if it went back", async () => {
  for (const [setBack, left] of [
    [0, hour / 2],
    [-10 * hour, hour],
  ] as const) {
    using store = scratch();
    const { clock, pass, set, reboot } = machine();
    const { done, definition } = sleeper();
    const first = open({ path: store.path, clock: clock() }, definition);
    const { run } = await first.start(request);
    await first.deliver(run.id, "go", null);
    await until(() => done.worked === 1);
    await is(first, run.id, "waiting");
    pass(hour);
    const now = clock().wall();
    await until(() => recordedWall(store.path) >= now);
    await first.close();
    pass(hour / 2);
    set(setBack);
    reboot();
    const second = open({ path: store.path, clock: clock() }, definition);
    await second.get(run.id);
    pass(left - 60_000);
    await Bun.sleep(150);
    expect([left, done.woken]).toEqual([left, 0]);
    pass(60_000);
    await is(second, run.id, "completed");
    await second.close();
  }
});

test("the time that steps read advances evenly, in the next process too", async () => {
  using store = scratch();
  const { clock, pass, set } = machine();
  const readings: number[] = [];
  const execute = async (run: Run) => {
    for (const name of ["one", "two"]) {
      readings.push(await run.step("read", async ({ now }) => now()));
      await run.signal(name);
    }
    return null;
  };
  for (const name of ["one", "two"]) {
    const engine = open({ path: store.path, clock: clock() }, { kind: "k", execute });
    const { run } = await engine.start({ ...request, dedupe: { key: "k", hash: "h" } });
    await is(engine, run.id, "waiting");
    pass(hour);
    set(-5 * hour);
    await engine.deliver(run.id, name, null);
    await is(engine, run.id, name === "one" ? "waiting" : "completed");
    await engine.close();
  }
  const [first = 0, again = 0, second = 0] = readings;
  expect(again).toBe(first);
  expect(Math.abs(second - first - hour)).toBeLessThan(2_000);
});

test("a request repeated within its window is found, however the clock was set meanwhile; after it, it is not", async () => {
  using store = scratch();
  const { clock, pass, set, reboot } = machine();
  const again = { ...request, dedupe: { key: "k", hash: "h", withinMs: 24 * hour } };
  const first = open({ path: store.path, clock: clock() });
  const { run } = await first.start(again);
  set(48 * hour);
  expect(await first.start(again)).toMatchObject({ created: false, run: { id: run.id } });
  pass(20 * hour);
  set(-96 * hour);
  await first.close();
  reboot();
  const second = open({ path: store.path, clock: clock() });
  expect(await second.start(again)).toMatchObject({ created: false, run: { id: run.id } });
  pass(25 * hour);
  expect((await second.start(again)).created).toBe(true);
  await second.close();
});
