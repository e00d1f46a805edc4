import type { Context } from "hono";
import { matchedRoutes } from "hono/route";
import type { MetricFamily, MetricSample } from "../core/metric.ts";
import { type Engine, runStatuses } from "../core/runs/engine.ts";
import type { TaskUsage } from "../core/usage.ts";

/** Counts a server's responses, and reports them with the state of its runs. */
export type Metrics = {
  /**
   * Counts one answered request by the route's pattern, never its path, so that the number of
   * series stays small.
   */
  answered(route: string, status: number): void;
  /** Counts one reported internal failure. */
  failed(): void;
  /** Everything in Prometheus's text format. */
  text(): Promise<string>;
};

/**
 * The pattern of the route that answered. What guards every route is registered behind some of
 * them, and matches too.
 */
export function routeOf(c: Context): string {
  return matchedRoutes(c).findLast(({ path }) => path !== "/*")?.path ?? "/*";
}

/** What else a server's metrics say. */
export type MoreMetrics = {
  /** The model usage of tools called without a run. */
  readonly served?: (() => TaskUsage) | undefined;
  readonly families?: (() => readonly MetricFamily[]) | undefined;
};

/**
 * Metrics of one server, which is a label of each. Runs and push deliveries are counted by kind on
 * each request.
 */
export function createMetrics(
  agent: string,
  engine: Pick<Engine, "list" | "health">,
  kinds: () => { readonly runs: readonly string[]; readonly deliveries: readonly string[] },
  { served, families = () => [] }: MoreMetrics = {},
): Metrics {
  const answers = new Map<string, MetricSample & { value: number }>();
  let failures = 0;
  const countsOf = (of: readonly string[]) =>
    Promise.all(
      runStatuses.map(async (status) => {
        const { total } = await engine.list({ kinds: of, statuses: [status], limit: 1 });
        return { labels: { status }, value: total };
      }),
    );
  return {
    answered(route, code) {
      const status = String(code);
      const key = `${status} ${route}`;
      const sample = answers.get(key) ?? { labels: { route, status }, value: 0 };
      sample.value++;
      answers.set(key, sample);
    },
    failed() {
      failures++;
    },
    async text() {
      const [runs, receivers] = await Promise.all([countsOf(kinds().runs), countsOf(kinds().deliveries)]);
      const own: readonly MetricFamily[] = [
        gauge("manyhands_runs", "Runs in the journal by status.", runs),
        gauge("manyhands_receivers", "Receivers of notifications; one that was given up has failed.", receivers),
        gauge("manyhands_store_writable", "1 if the store takes new work, else 0.", only(engine.health().ok ? 1 : 0)),
        counter("manyhands_http_requests_total", "Requests answered since the start.", [...answers.values()]),
        counter("manyhands_internal_failures_total", "Failures that were no expected errors.", only(failures)),
      ];
      const all = [...own, ...(served === undefined ? [] : servedUsage(served())), ...families()];
      return all.map((family) => written(family, agent)).join("");
    },
  };
}

function servedUsage({ tokens, outputTokens = 0, usd }: TaskUsage): MetricFamily[] {
  const samples = [
    { labels: { direction: "in" }, value: tokens - outputTokens },
    { labels: { direction: "out" }, value: outputTokens },
  ];
  const name = "manyhands_served_tools_tokens_total";
  return [
    counter(name, "Tokens of the model for tools that were called over MCP, without a run.", samples),
    counter("manyhands_served_tools_usd_total", "What they cost, as far as prices are known.", only(usd)),
  ];
}

function only(value: number): readonly MetricSample[] {
  return [{ labels: {}, value }];
}

function gauge(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: "gauge", help, samples };
}

function counter(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: "counter", help, samples };
}

/** A family in Prometheus's text format (version 0.0.4). */
function written({ name, type, help, samples }: MetricFamily, agent: string): string {
  const lines = samples.map(({ labels, value, suffix = "" }) => {
    const all = Object.entries({ agent, ...labels }).map(([label, text]) => `${label}="${escaped(text)}"`);
    return `${name}${suffix}{${all.join(",")}} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
