import { expect, test } from "bun:test";
import { scratch } from "../../testing/durable/scratch.ts";
import { until } from "../../testing/durable/until.ts";
import { createEmbeddedEngine } from "../sqlite/embedded-engine.ts";

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
  await until(async () => (await engine.list({ limit: 1, statuses: ["waiting"] })).total === count);
  const alive = () => held.filter((body) => body.deref() !== undefined).length;
  expect(held.length).toBe(count);
  await until(() => {
    Bun.gc(true);
    return alive() <= count / 10;
  });
  await engine.close();
});
