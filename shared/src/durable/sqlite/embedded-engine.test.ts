import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "../../core/runs/engine.ts";
import { engineConformance } from "../conformance.ts";
import { createEmbeddedEngine } from "./embedded-engine.ts";

engineConformance("the embedded engine", async () => {
  const folder = await mkdtemp(join(tmpdir(), "durable-"));
  const opened: Engine[] = [];
  return {
    isFile: true,
    open() {
      const engine = createEmbeddedEngine({ path: join(folder, "runs.db"), pollMs: 5, stopMs: 500 });
      opened.push(engine);
      return engine;
    },
    async dispose() {
      for (const engine of opened) await engine.close({ graceMs: 0 });
      await rm(folder, { recursive: true });
    },
  };
});

test("of two equal requests at once the one that was made first starts the run", async () => {
  const engine = createEmbeddedEngine({ path: ":memory:" });
  const keyed = { kind: "k", input: null, principal: "p", contextId: "c", dedupe: { key: "k" } };
  const both = await Promise.all([engine.start(keyed), engine.start(keyed)]);
  expect(both.map(({ created }) => created)).toEqual([true, false]);
  await engine.close();
});
