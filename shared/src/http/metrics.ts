import { type Engine, runStatuses } from "../core/engine.ts";
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
 * Metrics of one server. Runs and push deliveries are counted by kind on each request. `served` is
 * the model usage of tools called without a run.
 */
export function createMetrics(
  agent: string,
  engine: Pick<Engine, "list">,
  kinds: () => { readonly runs: readonly string[]; readonly deliveries: readonly string[] },
  served?: () => TaskUsage,
): Metrics {
  const answers = new Map<string, number>();
  let failures = 0;
  const label = `agent=${JSON.stringify(agent)}`;
  return {
    answered(route, status) {
      const labels = `${label},route=${JSON.stringify(route)},status="${status}"`;
      answers.set(labels, (answers.get(labels) ?? 0) + 1);
    },
    failed() {
      failures++;
    },
    async text() {
      const countsOf = (name: string, of: readonly string[]) =>
        Promise.all(
          runStatuses.map(async (status) => {
            const { total } = await engine.list({ kinds: of, statuses: [status], limit: 1 });
            return `${name}{${label},status="${status}"} ${total}`;
          }),
        );
      const [runs, receivers] = await Promise.all([
        countsOf("manyhands_runs", kinds().runs),
        countsOf("manyhands_receivers", kinds().deliveries),
      ]);
      return [
        ...family("manyhands_runs", "gauge", "Runs in the journal by status.", runs),
        ...family(
          "manyhands_receivers",
          "gauge",
          "Receivers of notifications; one that was given up has failed.",
          receivers,
        ),
        ...family(
          "manyhands_http_requests_total",
          "counter",
          "Requests answered since the start.",
          [...answers].map(([labels, count]) => `manyhands_http_requests_total{${labels}} ${count}`),
        ),
        ...family("manyhands_internal_failures_total", "counter", "Failures that were no expected errors.", [
          `manyhands_internal_failures_total{${label}} ${failures}`,
        ]),
        ...(served === undefined ? [] : servedUsage(served(), label)),
        "",
      ].join("\n");
    },
  };
}

function servedUsage({ tokens, outputTokens = 0, usd }: TaskUsage, label: string): string[] {
  const name = "manyhands_served_tools_tokens_total";
  const samples = [
    `${name}{${label},direction="in"} ${tokens - outputTokens}`,
    `${name}{${label},direction="out"} ${outputTokens}`,
  ];
  const cost = "manyhands_served_tools_usd_total";
  return [
    ...family(name, "counter", "Tokens of the model for tools that were called over MCP, without a run.", samples),
    ...family(cost, "counter", "What they cost, as far as prices are known.", [`${cost}{${label}} ${usd}`]),
  ];
}

function family(name: string, type: "counter" | "gauge", help: string, samples: readonly string[]): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples];
}
