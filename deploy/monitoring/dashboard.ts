/** One query of a panel, and how its lines are called. */
type Query = { readonly expr: string; readonly legend: string };

/** A panel: a number, or lines over time. Its unit is one of Grafana's. */
type Panel = {
  readonly title: string;
  readonly about: string;
  readonly type: "stat" | "timeseries";
  readonly unit: string;
  readonly queries: readonly Query[];
  /** Of 24. */
  readonly width: number;
  /** A stat is red below this. */
  readonly good?: number;
};

const own = 'agent=~"$agent"';
const quantile = (share: number, metric: string, by: string) =>
  `histogram_quantile(${share}, sum by (le, ${by}) (rate(${metric}_bucket{${own}}[$__rate_interval])))`;

function lines(title: string, about: string, unit: string, queries: readonly Query[], width = 8): Panel {
  return { title, about, type: "timeseries", unit, queries, width };
}

function number(title: string, about: string, unit: string, expr: string, good?: number): Panel {
  return { title, about, type: "stat", unit, queries: [{ expr, legend: "" }], width: 4, ...(good && { good }) };
}

/** Runs in this status: replicas that share a store all say the same of it. */
const runsNow = (status: string) => `sum(max by (agent) (manyhands_runs{${own},status="${status}"}))`;

/** The rows of the dashboard. */
const rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[] = [
  {
    title: "Now",
    panels: [
      number("Stores", "1 while every server can write its store.", "none", `min(manyhands_store_writable{${own}})`, 1),
      number(
        "Agents up",
        "Agents that answered the gateway's last check.",
        "none",
        "sum(max by (name) (manyhands_agent_up))",
        1,
      ),
      number(
        "Held back",
        "Agents whose calls are held back.",
        "none",
        "sum(max by (name) (manyhands_agent_breaker_open))",
      ),
      number("Running", "Runs being executed.", "none", runsNow("running")),
      number("Waiting", "Runs that wait for a person.", "none", runsNow("waiting")),
      number("Paused", "Runs that somebody has to look at.", "none", runsNow("paused")),
    ],
  },
  {
    title: "Runs",
    panels: [
      lines(
        "Runs by status",
        "Those that have not ended.",
        "none",
        [
          {
            expr: `sum by (status) (max by (agent, status) (manyhands_runs{${own},status=~"queued|running|waiting|paused"}))`,
            legend: "{{status}}",
          },
        ],
        6,
      ),
      lines(
        "Ended",
        "By outcome: completed, or the code of the failure.",
        "none",
        [{ expr: `sum by (outcome) (increase(manyhands_runs_ended_total{${own}}[5m]))`, legend: "{{outcome}}" }],
        6,
      ),
      lines(
        "Steps",
        "Durable steps a second.",
        "ops",
        [{ expr: `sum by (agent) (rate(manyhands_steps_total{${own}}[$__rate_interval]))`, legend: "{{agent}}" }],
        6,
      ),
      lines(
        "Started or resumed",
        "Bodies of runs a second: begun, or gone on after a wait or a restart.",
        "ops",
        [{ expr: `sum by (agent) (rate(manyhands_executions_total{${own}}[$__rate_interval]))`, legend: "{{agent}}" }],
        6,
      ),
    ],
  },
  {
    title: "Models",
    panels: [
      lines("Duration of calls", "Half of them and nine in ten are faster.", "s", [
        { expr: quantile(0.5, "manyhands_model_call_seconds", "model"), legend: "{{model}} p50" },
        { expr: quantile(0.9, "manyhands_model_call_seconds", "model"), legend: "{{model}} p90" },
      ]),
      lines("Tokens", "A second; the cached ones are among the input.", "none", [
        { expr: `sum by (type) (rate(manyhands_model_tokens_total{${own}}[$__rate_interval]))`, legend: "{{type}}" },
        {
          expr: `sum by (direction) (rate(manyhands_served_tools_tokens_total{${own}}[$__rate_interval]))`,
          legend: "tools over MCP, {{direction}}",
        },
      ]),
      lines("Cost", "In an hour, as far as prices are known.", "currencyUSD", [
        { expr: `sum by (model) (increase(manyhands_model_usd_total{${own}}[1h]))`, legend: "{{model}}" },
        { expr: `sum(increase(manyhands_served_tools_usd_total{${own}}[1h]))`, legend: "tools over MCP" },
      ]),
    ],
  },
  {
    title: "Tools",
    panels: [
      lines(
        "Calls",
        "In five minutes.",
        "none",
        [
          {
            expr: `sum by (tool) (increase(manyhands_tool_call_seconds_count{${own}}[5m]))`,
            legend: "{{tool}}",
          },
        ],
        8,
      ),
      lines("Failed calls", "In five minutes. Models see them and try something else.", "none", [
        {
          expr: `sum by (tool) (increase(manyhands_tool_call_seconds_count{${own},outcome="error"}[5m]))`,
          legend: "{{tool}}",
        },
      ]),
      lines("Duration of calls", "Nine in ten are faster.", "s", [
        { expr: quantile(0.9, "manyhands_tool_call_seconds", "tool"), legend: "{{tool}}" },
      ]),
    ],
  },
  {
    title: "Servers",
    panels: [
      lines("Requests", "Answered a second, by status.", "reqps", [
        {
          expr: `sum by (status) (rate(manyhands_http_requests_total{${own}}[$__rate_interval]))`,
          legend: "{{status}}",
        },
      ]),
      lines("Internal failures", "In five minutes. Each is a bug.", "none", [
        {
          expr: `sum by (agent) (increase(manyhands_internal_failures_total{${own}}[5m]))`,
          legend: "{{agent}}",
        },
      ]),
      lines("Receivers of notifications", "By status; one that was given up has failed.", "none", [
        { expr: `sum by (status) (max by (agent, status) (manyhands_receivers{${own}}))`, legend: "{{status}}" },
      ]),
    ],
  },
];

const source = { type: "prometheus", uid: "$datasource" };

/** The dashboard as Grafana imports it. */
export function dashboard() {
  let id = 0;
  let y = 0;
  const panels = rows.flatMap((row) => {
    const height = row.panels.every(({ type }) => type === "stat") ? 4 : 8;
    const title = { id: ++id, type: "row", title: row.title, collapsed: false, gridPos: { x: 0, y, w: 24, h: 1 } };
    let x = 0;
    const own = row.panels.map((panel) => {
      const placed = panelOf(panel, ++id, { x, y: y + 1, w: panel.width, h: height });
      x += panel.width;
      return placed;
    });
    y += 1 + height;
    return [{ ...title, panels: [] }, ...own];
  });
  return {
    uid: "manyhands",
    title: "Manyhands",
    tags: ["manyhands"],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    timezone: "",
    templating: { list: variables },
    annotations: { list: [] },
    panels,
  };
}

const variables = [
  { name: "datasource", label: "Source", type: "datasource", query: "prometheus", refresh: 1, hide: 0 },
  {
    ...{ name: "agent", label: "Server", type: "query", datasource: source, refresh: 2, sort: 1, hide: 0 },
    ...{ query: "label_values(manyhands_store_writable, agent)", includeAll: true, multi: true, allValue: ".*" },
    current: { selected: true, text: ["All"], value: ["$__all"] },
  },
];

function panelOf(
  { title, about, type, unit, queries, good }: Panel,
  id: number,
  gridPos: Readonly<Record<"x" | "y" | "w" | "h", number>>,
) {
  const steps =
    good === undefined
      ? [{ color: "text", value: null }]
      : [
          { color: "red", value: null },
          { color: "green", value: good },
        ];
  const options =
    type === "stat"
      ? { reduceOptions: { calcs: ["lastNotNull"], fields: "", values: false }, colorMode: "value", graphMode: "area" }
      : { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } };
  return {
    ...{ id, type, title, description: about, datasource: source, gridPos, options },
    fieldConfig: { defaults: { unit, min: 0, thresholds: { mode: "absolute", steps } }, overrides: [] },
    targets: queries.map(({ expr, legend }, at) => ({
      ...{ refId: String.fromCharCode(65 + at), datasource: source, expr },
      ...(legend === "" ? { instant: true } : { legendFormat: legend }),
    })),
  };
}
