import { expect, setDefaultTimeout, test } from "bun:test";
import { createEmbeddedEngine } from "../embedded/embedded-engine.ts";
import type { Run } from "../run.ts";
import { scratch } from "../testing/scratch.ts";
import { until } from "../testing/until.ts";

setDefaultTimeout(30_000);

const hour = 3_600_000;
const request = { kind: "k", input: null, principal: "p", contextId: "c" };

for (const jump of [hour, -hour]) {
  test(`a clock that jumps by ${jump / hour} h during a sleep: the run wakes once, and no worker takes another's runs`, async () => {
    using store = scratch();
    let offset = 0;
    const clock = () => Date.now() + offset;
    let woken = 0;
    let worked = 0;
    const definition = {
      kind: "k",
      async execute(run: Run) {
        await run.all([
          async (own) => {
            await own.sleep(2 * hour);
            return own.step("woken", async () => ++woken);
          },
          async (own) => {
            await own.signal("go");
            return own.step("work", () => Bun.sleep(500).then(() => ++worked));
          },
        ]);
        return null;
      },
    };
    const open = () => createEmbeddedEngine({ path: store.path, pollMs: 10, leaseMs: 200, clock });
    const engines = [open(), open()] as const;
    for (const engine of engines) engine.work([definition]);
    const { run } = await engines[0].start(request);
    await until(async () => (await engines[0].get(run.id))?.status === "waiting");
    await engines[0].deliver(run.id, "go", null);
    await until(async () => (await engines[0].get(run.id))?.status === "running");
    offset += jump;
    await until(async () => (await engines[0].get(run.id))?.status === "waiting");
    expect([worked, woken]).toEqual([1, 0]);
    offset += 2 * hour - jump;
    await until(async () => (await engines[0].get(run.id))?.status === "completed");
    offset -= 2 * hour;
    await Bun.sleep(100);
    expect([worked, woken]).toEqual([1, 1]);
    for (const engine of engines) await engine.close();
  });
}
