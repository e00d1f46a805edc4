import { expect, test } from "bun:test";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { scratch } from "../testing/durable/scratch.ts";
import { createProjectionCache } from "./projection-cache.ts";
import { untilSettled } from "./settle.ts";

test("a caller stops waiting for a paused run, whether it was paused before or is paused now", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  const watching = Promise.withResolvers<void>();
  // An event that cannot be stored pauses a run.
  const unwritable = { type: "told", amount: 1n as never };
  engine.work([
    {
      kind: "pausing",
      async execute(run) {
        await watching.promise;
        await run.step("tell", async (step) => void step.emit(unwritable));
        return null;
      },
    },
  ]);
  const watched = { engine, projections: createProjectionCache(engine) };
  const deadline = AbortSignal.timeout(60_000);
  const { run } = await engine.start({ kind: "pausing", input: null, principal: "ann", contextId: "c" });
  const settled = untilSettled(watched, run, deadline);
  watching.resolve();
  await settled;
  const paused = await engine.get(run.id);
  expect(paused?.status).toBe("paused");
  await untilSettled(watched, paused ?? run, deadline);
  expect(deadline.aborted).toBe(false);
  await engine.close({ graceMs: 0 });
});
