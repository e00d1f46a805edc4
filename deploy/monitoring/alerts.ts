/**
 * One alert. Its name is also its heading in docs/how-to/watch.md, where it says what to do.
 */
export type Alert = {
  readonly name: string;
  /** True while something is wrong, in PromQL. */
  readonly expr: string;
  /** For how long, before somebody is told. */
  readonly lasts: string;
  /** `critical`: nothing works, or soon will not. `warning`: look at it within the day. */
  readonly severity: "critical" | "warning";
  /** In Prometheus's templates. */
  readonly summary: string;
};

/** Every alert, the gravest first. */
export const alerts: readonly Alert[] = [
  {
    name: "ManyhandsGatewayGone",
    expr: 'absent(manyhands_store_writable{agent="gateway"})',
    lasts: "3m",
    severity: "critical",
    summary: "No gateway is answering Prometheus.",
  },
  {
    name: "ManyhandsStoreNotWritable",
    expr: "manyhands_store_writable == 0",
    lasts: "1m",
    severity: "critical",
    summary: "{{ $labels.agent }} cannot write its store and takes no new work.",
  },
  {
    name: "ManyhandsNoAgentUp",
    expr: "max(manyhands_agent_up) == 0",
    lasts: "2m",
    severity: "critical",
    summary: "No agent answers the gateway, so it is not ready.",
  },
  {
    name: "ManyhandsAgentDown",
    expr: "manyhands_agent_up == 0",
    lasts: "5m",
    severity: "warning",
    summary: "{{ $labels.name }} does not answer the gateway, or may not be used.",
  },
  {
    name: "ManyhandsAgentHeldBack",
    expr: "manyhands_agent_breaker_open == 1",
    lasts: "10m",
    severity: "warning",
    summary: "Calls to {{ $labels.name }} are held back because they kept failing.",
  },
  {
    name: "ManyhandsRunsPaused",
    expr: 'max by (agent) (manyhands_runs{status="paused"}) > 0',
    lasts: "1m",
    severity: "warning",
    summary: "{{ $value }} runs of {{ $labels.agent }} are paused until somebody looks at them.",
  },
  {
    name: "ManyhandsRunsQueued",
    expr: 'max by (agent) (manyhands_runs{status="queued"}) > 0',
    lasts: "15m",
    severity: "warning",
    summary: "{{ $value }} runs of {{ $labels.agent }} wait to be executed.",
  },
  {
    name: "ManyhandsRunsFailing",
    expr: [
      'sum by (agent) (increase(manyhands_runs_ended_total{outcome!="completed"}[30m]))',
      "/ sum by (agent) (increase(manyhands_runs_ended_total[30m])) > 0.5",
      "and sum by (agent) (increase(manyhands_runs_ended_total[30m])) >= 5",
    ].join(" "),
    lasts: "5m",
    severity: "warning",
    summary: "{{ $value | humanizePercentage }} of the runs of {{ $labels.agent }} fail.",
  },
  {
    name: "ManyhandsInternalFailures",
    expr: "increase(manyhands_internal_failures_total[15m]) > 0",
    lasts: "0m",
    severity: "warning",
    summary: "{{ $labels.agent }} met a bug of ours.",
  },
  {
    name: "ManyhandsRequestsFailing",
    expr: [
      // A server that is not ready yet says so to whoever probes it, which is no failure.
      'sum by (agent) (rate(manyhands_http_requests_total{status=~"5..",route!="/readyz"}[10m]))',
      '/ sum by (agent) (rate(manyhands_http_requests_total{route!="/readyz"}[10m])) > 0.05',
    ].join(" "),
    lasts: "10m",
    severity: "warning",
    summary: "{{ $labels.agent }} answers {{ $value | humanizePercentage }} of its requests with a failure.",
  },
  {
    name: "ManyhandsModelSlow",
    expr: "histogram_quantile(0.9, sum by (le, model) (rate(manyhands_model_call_seconds_bucket[15m]))) > 60",
    lasts: "15m",
    severity: "warning",
    summary: "One call in ten of {{ $labels.model }} takes longer than {{ $value | humanizeDuration }}.",
  },
  {
    name: "ManyhandsReceiversGivenUp",
    expr: 'max by (agent) (delta(manyhands_receivers{status="failed"}[1h])) > 0',
    lasts: "0m",
    severity: "warning",
    summary: '{{ $labels.agent }} gave up notifying {{ printf "%.0f" $value }} receivers.',
  },
  {
    name: "ManyhandsSpending",
    expr: "sum(increase(manyhands_model_usd_total[1h])) > 10",
    lasts: "0m",
    severity: "warning",
    summary: "Models cost {{ $value | humanize }} $ in the last hour.",
  },
];

/** The alerts as Prometheus's rules. */
export function ruleGroups() {
  const rules = alerts.map(({ name, expr, lasts, severity, summary }) => ({
    alert: name,
    expr,
    for: lasts,
    labels: { severity },
    annotations: { summary, runbook: `docs/how-to/watch.md#${name.toLowerCase()}` },
  }));
  return { groups: [{ name: "manyhands", rules }] };
}
