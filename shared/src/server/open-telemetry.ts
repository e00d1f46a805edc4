import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { Engine, Log } from "../core/engine.ts";
import type { RunDefinition } from "../core/run.ts";
import { currentTrace, ownTrace, withinTrace } from "../core/trace.ts";
import type { Operation } from "../telemetry/run-spans.ts";

/** A server whose runs are traced: its name, and what its runs are. */
export type TracedServer = { readonly name: string; readonly operation: Operation; readonly log: Log };

/**
 * The engine, which reports its runs as traces if the settings name a collector: a run without a
 * caller's trace begins one of its own. What sees to something beside tasks, such as telling
 * receivers, is not reported.
 */
export async function tracedEngine(engine: Engine, { home, telemetry }: Config, server: TracedServer): Promise<Engine> {
  const { otlpEndpoint, otlpHeaders, sampled: share } = telemetry;
  if (otlpEndpoint === undefined) return engine;
  const [{ exportTraces }, { otlpExporter }] = await Promise.all([
    import("../telemetry/export-traces.ts"),
    import("../telemetry/otlp-exporter.ts"),
  ]);
  const { name, operation, log } = server;
  const kinds = new Set<string>();
  const traces = exportTraces({
    ...{ engine, operation, share, log },
    kinds: () => [...kinds],
    exporter: otlpExporter(otlpEndpoint, otlpHeaders, name),
    file: join(home, "telemetry", `${name}.json`),
  });
  return {
    ...engine,
    work(definitions, options) {
      for (const { kind } of definitions) if (!kind.includes("/")) kinds.add(kind);
      engine.work(
        definitions.map((definition) => inTrace(definition, share)),
        options,
      );
    },
    async close(options) {
      await traces.close();
      await engine.close(options);
    },
  };
}

function inTrace({ kind, execute }: RunDefinition, share: number): RunDefinition {
  return {
    kind,
    execute: (run, input) => withinTrace(currentTrace() ?? ownTrace(run.id, share), () => execute(run, input)),
  };
}
