import { AppError } from "../core/errors.ts";
import type { EventOf, ReadEvent } from "../core/events/events.ts";
import { readEvent } from "../core/events/read-event.ts";
import type { Json } from "../core/json.ts";
import type { MetricFamily, MetricSample } from "../core/metric.ts";
import type { Usage } from "../core/model.ts";
import { mapBodies } from "../core/runs/bodies.ts";
import type { Run, RunDefinition, RunEvent, StepContext } from "../core/runs/run.ts";

/** Counts what the runs of this process do, from its start. */
export type WorkMetrics = {
  /** The definition, whose runs count. Replayed steps do not: they were counted when they ran. */
  counted(definition: RunDefinition): RunDefinition;
  families(): readonly MetricFamily[];
};

/** Upper bounds of the durations' buckets, in seconds. */
const bounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/**
 * A model may invent names of tools; later ones count as `other`. Those never succeed, so they take
 * no place from tools that do.
 */
const maxNames = 200;
/** What no tool can be called counts as `other` too: it may be of any length. */
const toolName = /^[\w-]{1,64}$/;

/** What an event of this type adds to the metrics. */
type Measure<Type> = (event: Extract<ReadEvent, { readonly type: Type }>) => void;
const nothing = () => undefined;

type Measured = {
  readonly models: ReturnType<typeof histogram>;
  readonly tools: ReturnType<typeof histogram>;
  /** Counts what a model's answers used. */
  readonly paid: (model: string, ...usages: readonly (Usage | undefined)[]) => void;
};

/**
 * Counts in this process, not in the store, so that processes which share a store can be summed
 * and a scrape costs nothing.
 */
export function createWorkMetrics(): WorkMetrics {
  const ended = counter("manyhands_runs_ended_total", "Runs that ended here, by outcome.");
  const executions = counter(
    "manyhands_executions_total",
    "Times a run's body was started here: when it began, and when it went on after a wait or a restart.",
  );
  const steps = counter("manyhands_steps_total", "Durable steps that were executed here.");
  const tokens = counter(
    "manyhands_model_tokens_total",
    "Tokens of model calls; those cached, and those written to a cache, are also among the input.",
  );
  const cost = counter("manyhands_model_usd_total", "What model calls cost, as far as prices are known.");
  const models = histogram("manyhands_model_call_seconds", "Duration of model calls.");
  const tools = histogram("manyhands_tool_call_seconds", "Duration of tool calls.");
  const paid = (model: string, ...usages: readonly (Usage | undefined)[]) => {
    for (const usage of usages) {
      if (usage === undefined) continue;
      tokens.add({ model, type: "input" }, usage.inputTokens);
      tokens.add({ model, type: "cached" }, usage.cachedInputTokens);
      if (usage.cacheWriteTokens !== undefined) tokens.add({ model, type: "cache_write" }, usage.cacheWriteTokens);
      tokens.add({ model, type: "output" }, usage.outputTokens);
      cost.add({ model }, usage.costUsd ?? 0);
    }
  };
  const measured = measures({ models, tools, paid });
  const take = (recorded: RunEvent) => {
    const event = readEvent(recorded);
    (measured[event.type] as (event: ReadEvent) => void)(event);
  };
  return {
    counted: (definition) =>
      mapBodies(definition, (execute) => async (run, input) => {
        const { kind } = definition;
        executions.add({ kind }, 1);
        const stepEnded = (events: readonly RunEvent[]) => {
          steps.add({ kind }, 1);
          events.forEach(take);
        };
        try {
          const output = await execute(countedRun(run, stepEnded), input);
          ended.add({ kind, outcome: "completed" }, 1);
          return output;
        } catch (error) {
          if (error instanceof AppError) ended.add({ kind, outcome: error.code }, 1);
          throw error;
        }
      }),
    families: () => [executions, ended, steps, tokens, cost, models, tools].map((one) => one.family()),
  };
}

/** What each type of event adds to these metrics. */
function measures({ models, tools, paid }: Measured): { readonly [Type in ReadEvent["type"]]: Measure<Type> } {
  const called = ({ model, usage, discarded, milliseconds }: EventOf<"model-replied" | "model-asked">) => {
    paid(model, usage, discarded);
    models.add({ model }, milliseconds / 1_000);
  };
  return {
    "message-received": nothing,
    "message-heard": nothing,
    "step-started": nothing,
    "model-replied": called,
    "model-asked": called,
    "tool-started": nothing,
    "tool-ended": ({ name, isError, milliseconds }) =>
      tools.add(
        { tool: toolName.test(name) ? name : "other", outcome: isError ? "error" : "ok" },
        milliseconds / 1_000,
      ),
    "context-compacted": ({ usage, discarded }) => paid("summary", usage, discarded),
    "memory-recalled": ({ usage }) => paid("embeddings", usage),
    "agent-asked": nothing,
    "agent-accepted": nothing,
    "agent-progressed": nothing,
    "agent-used": nothing,
    "agent-answered": nothing,
    "question-asked": nothing,
    "notice-given": nothing,
    "artifact-added": nothing,
    "flow-told": nothing,
    "run-paused": nothing,
    "run-resumed": nothing,
    "run-ended": nothing,
    unknown: nothing,
  };
}

/** The run, which tells each step that has really been executed, with its events. */
function countedRun(run: Run, ended: (events: readonly RunEvent[]) => void): Run {
  const branches = <T>(all: readonly ((run: Run) => Promise<T>)[]) =>
    all.map((branch) => (inner: Run) => branch(countedRun(inner, ended)));
  return {
    ...run,
    step: <T extends Json | undefined>(
      name: string,
      fn: (step: StepContext) => Promise<T>,
      options?: Parameters<Run["step"]>[2],
    ) =>
      run.step<T>(
        name,
        async (step) => {
          const events: RunEvent[] = [];
          const emit = (event: RunEvent) => {
            step.emit(event);
            events.push(event);
          };
          try {
            return await fn({ ...step, emit });
          } finally {
            if (!step.signal.aborted) ended(events);
          }
        },
        options,
      ),
    all: (all) => run.all(branches(all)),
    race: (all) => run.race(branches(all)),
  };
}

type Labels = Readonly<Record<string, string>>;

/** A number for each set of labels. */
function counter(name: string, help: string) {
  const values = series(() => ({ total: 0 }));
  return {
    add(labels: Labels, by: number): void {
      values.of(labels).total += by;
    },
    family(): MetricFamily {
      const samples = values.all().map(({ labels, value }) => ({ labels, value: value.total }));
      return { name, type: "counter", help, samples };
    },
  };
}

/** Durations in seconds, in cumulative buckets. */
function histogram(name: string, help: string) {
  const values = series(() => ({ sum: 0, count: 0, buckets: bounds.map(() => 0) }));
  return {
    add(labels: Labels, seconds: number): void {
      const value = values.of(labels);
      value.sum += seconds;
      value.count++;
      for (const [at, bound] of bounds.entries())
        if (seconds <= bound) value.buckets[at] = (value.buckets[at] ?? 0) + 1;
    },
    family(): MetricFamily {
      const samples = values
        .all()
        .flatMap(({ labels, value }): MetricSample[] => [
          ...bounds.map((bound, at) => bucket(labels, String(bound), value.buckets[at] ?? 0)),
          bucket(labels, "+Inf", value.count),
          { labels, value: value.sum, suffix: "_sum" },
          { labels, value: value.count, suffix: "_count" },
        ]);
      return { name, type: "histogram", help, samples };
    },
  };
}

function bucket(labels: Labels, le: string, value: number): MetricSample {
  return { labels: { ...labels, le }, value, suffix: "_bucket" };
}

/** A value for each set of labels, as many as may be; the rest share one. */
function series<Value>(create: () => Value) {
  const all = new Map<string, { readonly labels: Labels; readonly value: Value }>();
  return {
    of(labels: Labels): Value {
      const isNew = !all.has(JSON.stringify(labels));
      const isFull = isNew && this.all().filter((one) => one.labels.outcome === labels.outcome).length >= maxNames;
      const counted = isFull ? { ...labels, ...others(labels) } : labels;
      const key = JSON.stringify(counted);
      const found = all.get(key) ?? { labels: counted, value: create() };
      all.set(key, found);
      return found.value;
    },
    all: () => [...all.values()],
  };
}

function others(labels: Labels): Labels {
  return Object.fromEntries(["tool", "model"].flatMap((name) => (name in labels ? [[name, "other"]] : [])));
}
