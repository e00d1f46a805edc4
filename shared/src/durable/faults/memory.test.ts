import { expect, test } from "bun:test";
import { createEmbeddedEngine } from "../embedded/embedded-engine.ts";
import { scratch } from "../testing/scratch.ts";

test("a waiting run holds no memory: what its body held is collected", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  const held: WeakRef<object>[] = [];
  engine.work([
    {
      kind: "k",
      async execute(run) {
        const big = { bytes: new Uint8Array(100_000) };
        held.push(new WeakRef(big));
        await run.all([(own) => own.signal("a"), (own) => own.sleep(60_000).then(() => null)]);
        return big.bytes.length;
      },
    },
  ]);
  const count = 100;
  const request = { kind: "k", input: null, principal: "p", contextId: "c" };
  await Promise.all(Array.from({ length: count }, () => engine.start(request)));
  const deadline = performance.now() + 10_000;
  while ((await engine.list({ limit: 1, statuses: ["waiting"] })).total < count) {
    if (performance.now() > deadline) throw new Error("They do not wait.");
    await Bun.sleep(5);
  }
  const alive = () => held.filter((body) => body.deref() !== undefined).length;
  while (alive() > count / 10 && performance.now() < deadline) {
    Bun.gc(true);
    await Bun.sleep(5);
  }
  expect(held.length).toBe(count);
  expect(alive()).toBeLessThanOrEqual(count / 10);
  await engine.close();
});
