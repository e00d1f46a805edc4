import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "../../core/engine.ts";
import { engineConformance } from "../conformance.ts";
import { createEmbeddedEngine } from "./embedded-engine.ts";

engineConformance("the embedded engine", async () => {
  const folder = await mkdtemp(join(tmpdir(), "durable-"));
  const opened: Engine[] = [];
  return {
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
