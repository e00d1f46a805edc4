import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { closeAll } from "../core/async/close-all.ts";
import type { MetricFamily } from "../core/metric.ts";
import { mapBodies } from "../core/runs/bodies.ts";
import type { Engine, Log } from "../core/runs/engine.ts";
import type { RunDefinition } from "../core/runs/run.ts";
import { currentTrace, ownTrace, withinTrace } from "../core/trace.ts";
import type { Operation } from "../telemetry/run-spans.ts";
import { createWorkMetrics } from "../telemetry/work-metrics.ts";

/** A server whose runs are traced: its name, and what its runs are. */
export type TracedServer = { readonly name: string; readonly operation: Operation; readonly log: Log };

/** A server's engine, whose runs are traced and counted, and the counts. */
export type Telemetry = { readonly engine: Engine; readonly metrics: () => readonly MetricFamily[] };

/**
 * The engine, which counts the runs of this process and, if the settings name a collector, reports
 * them as traces: a run without a caller's trace begins one of its own. What sees to something
 * beside tasks, such as telling receivers, is neither counted nor reported.
 */
export async function openTelemetry(engine: Engine, config: Config, server: TracedServer): Promise<Telemetry> {
  const { counted, families } = createWorkMetrics();
  const traces = await openTraces(engine, config, server);
  return {
    engine: {
      ...engine,
      work(definitions, options) {
        const observed = (one: RunDefinition) => (isOfTasks(one.kind) ? counted(traces?.traced(one) ?? one) : one);
        engine.work(definitions.map(observed), options);
      },
      close: (options) => closeAll(traces?.close, () => engine.close(options)),
    },
    metrics: families,
  };
}

/** Runs of kinds with a slash see to something beside tasks. */
function isOfTasks(kind: string): boolean {
  return !kind.includes("/");
}

/** Undefined without a collector. */
async function openTraces(
  engine: Engine,
  { home, telemetry: { otlpEndpoint, otlpHeaders, sampled: share } }: Config,
  { name, operation, log }: TracedServer,
) {
  if (otlpEndpoint === undefined) return undefined;
  const [{ exportTraces }, { otlpExporter }] = await Promise.all([
    import("../telemetry/export-traces.ts"),
    import("../telemetry/otlp-exporter.ts"),
  ]);
  const kinds = new Set<string>();
  const traces = exportTraces({
    ...{ engine, operation, share, log },
    kinds: () => [...kinds],
    exporter: otlpExporter(otlpEndpoint, otlpHeaders, name),
    file: join(home, "telemetry", `${name}.json`),
  });
  const traced = (definition: RunDefinition): RunDefinition => {
    kinds.add(definition.kind);
    return mapBodies(
      definition,
      (execute) => (run, input) => withinTrace(currentTrace() ?? ownTrace(run.id, share), () => execute(run, input)),
    );
  };
  return { traced, close: traces.close };
}
