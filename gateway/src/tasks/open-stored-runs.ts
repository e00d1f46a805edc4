import { join } from "node:path";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifact-store";
import { type StoredRuns, storedRuns } from "./stored-runs.ts";

/** Opens the runs below MANYHANDS_HOME, of one kind or of all agents and flows. The home must hold a `runs.db`; to be disposed. Servers may be at work in it. */
export function openStoredRuns(home: string, kind?: string): AsyncDisposable & { readonly runs: StoredRuns } {
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  return {
    runs: storedRuns(engine, createArtifactStore(join(home, "artifacts")), kind),
    [Symbol.asyncDispose]: () => engine.close(),
  };
}
