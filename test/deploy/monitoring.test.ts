import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { alerts } from "../../deploy/monitoring/alerts.ts";
import { written } from "../../deploy/monitoring/write.ts";
import { type GatewayServer, startGatewayServer } from "../servers/gateway-server.ts";
import { type AgentServer, startManus } from "../servers/manus-server.ts";
import { root } from "./build-root.ts";

const guide = await Bun.file(join(root, "docs/how-to/watch.md")).text();
const board = JSON.parse(written["grafana/manyhands.json"] ?? "");
const queries: string[] = board.panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
  targets.map(({ expr }) => expr),
);
const promtool = Bun.which("promtool");
if (promtool === null)
  console.warn("Alert rules are not tried: promtool is missing (Debian's package prometheus has it).");

let folder: string;
let manus: AgentServer;
let gateway: GatewayServer;
/** The labels of each exposed family, after a task that asked a model and called a tool. */
const exposed = new Map<string, Set<string>>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "manyhands-monitoring-"));
  const home = join(folder, "manus");
  await mkdir(home);
  const port = String(freePort());
  manus = startManus({ MANYHANDS_HOME: home, PORT: port, MANYHANDS_AGENTS_MANUS_SERVE_MCP: "true" });
  await manus.ready;
  gateway = await startGatewayServer(folder, { MANUS_URL: manus.url });
  const { body } = await gateway.call(
    "/flows/manus",
    { input: "How many primes are below 1000?" },
    { Prefer: "wait=120" },
  );
  expect(body.status).toBe("completed");
  for (const url of [manus.url, gateway.url]) await collect(`${url}/metrics`);
});

afterAll(async () => {
  await gateway?.stop();
  await manus?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function collect(url: string): Promise<void> {
  const text = await (await fetch(url)).text();
  for (const [, family = ""] of text.matchAll(/^# TYPE (\S+)/gm)) {
    const labels = exposed.get(family) ?? new Set();
    const samples = text.matchAll(new RegExp(`^${family}(?:_bucket|_sum|_count)?\\{(.*)\\} `, "gm"));
    for (const [, pairs = ""] of samples) for (const [, label = ""] of pairs.matchAll(/(\w+)="/g)) labels.add(label);
    exposed.set(family, labels);
  }
}

/** The families that a text names; a histogram's parts are of its family. */
function familiesIn(text: string): string[] {
  return [...new Set(text.match(/\bmanyhands_[a-z_]+/g))].map((name) =>
    name.replace(/(_seconds)_(?:bucket|sum|count)$/, "$1"),
  );
}

test("the dashboard and the rules in the repository are those of the lists", async () => {
  const stored = Object.keys(written).map(async (path) => [path, await Bun.file(join(root, "deploy", path)).text()]);
  expect(Object.fromEntries(await Promise.all(stored))).toEqual({ ...written });
});

test("every metric of the dashboard, the alerts and the guide is exposed, with the labels that are asked for", () => {
  const exprs = [...queries, ...alerts.map(({ expr }) => expr)];
  expect(exposed.size).toBeGreaterThan(10);
  expect(familiesIn([...exprs, guide].join("\n")).filter((name) => !exposed.has(name))).toEqual([]);
  const asked = exprs.flatMap((expr) =>
    [...expr.matchAll(/(manyhands_[a-z_]+)\{([^}]*)\}/g)].flatMap(([, name = "", pairs = ""]) =>
      [...pairs.matchAll(/(\w+)(?:=~|!=|=)"/g)].map(([, label = ""]) => ({ family: familiesIn(name)[0] ?? "", label })),
    ),
  );
  expect(asked.length).toBeGreaterThan(20);
  const sampled = asked.filter(({ family }) => exposed.get(family)?.size);
  expect(sampled.filter(({ family, label }) => !exposed.get(family)?.has(label))).toEqual([]);
  const grouped = exprs.flatMap((expr) =>
    [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, by = ""]) => by.split(", ")),
  );
  const known = new Set([...exposed.values()].flatMap((labels) => [...labels]));
  expect(grouped.filter((label) => !known.has(label))).toEqual([]);
});

test("what every replica says of a shared store, or every gateway of an agent, is counted once", () => {
  const shared = /manyhands_(?:runs|receivers|agent_up|agent_breaker_open)(?![a-z_])/;
  const once = new RegExp(
    `max(?: by \\((?:agent|agent, status|name)\\))? \\((?:delta\\()?${shared.source}|^${shared.source} ==`,
  );
  const exprs = [...queries, ...alerts.map(({ expr }) => expr)].filter((expr) => shared.test(expr));
  expect(exprs.length).toBeGreaterThan(8);
  expect(exprs.filter((expr) => !once.test(expr) && !expr.startsWith("max(manyhands_agent_up)"))).toEqual([]);
});

test("the guide explains every exposed metric, and for every alert what it means and what to do, step by step", () => {
  const families = [...exposed.keys()];
  expect(families.filter((name) => !guide.includes(`\`${name}`))).toEqual([]);
  const sections = new Map(
    guide
      .split(/^### /m)
      .slice(1)
      .map((section) => [section.split("\n")[0], section]),
  );
  for (const { name } of alerts)
    expect([name, sections.get(name)]).toEqual([name, expect.stringMatching(/^1\. .*\n(?:.*\n)*?2\. /m)]);
});

test("Grafana can show the dashboard: panels have their own ids, place, unit and queries", () => {
  expect([board.uid, typeof board.schemaVersion, board.panels.length > 10]).toEqual(["manyhands", "number", true]);
  const ids = board.panels.map(({ id }: { id: number }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const taken = new Set<string>();
  for (const { gridPos, type, targets, fieldConfig, datasource } of board.panels) {
    const { x, y, w, h } = gridPos;
    expect(x + w).toBeLessThanOrEqual(24);
    for (let cell = 0; cell < w * h; cell++) {
      const at = `${x + (cell % w)}/${y + Math.floor(cell / w)}`;
      expect([at, taken.has(at)]).toEqual([at, false]);
      taken.add(at);
    }
    if (type === "row") continue;
    expect(["stat", "timeseries"]).toContain(type);
    expect(fieldConfig.defaults.unit).toMatch(/\w/);
    const refs = targets.map(({ refId }: { refId: string }) => refId);
    expect([refs.length > 0, new Set(refs).size]).toEqual([true, refs.length]);
    for (const one of targets) expect(one.datasource).toEqual(datasource);
  }
  expect(board.templating.list.map(({ name }: { name: string }) => name)).toEqual(["datasource", "agent"]);
});

test("a probe that is told that a server is not ready yet counts for no alert", () => {
  const selectors = alerts.flatMap(({ expr }) => [...expr.matchAll(/manyhands_http_requests_total(?:\{(.*?)\})?/g)]);
  expect(selectors.length).toBeGreaterThan(0);
  for (const [, labels = ""] of selectors) expect(labels.split(",")).toContain('route!="/readyz"');
});

/** What each alert is fired by: series from minute to minute. `+0x9` repeats a value nine times. */
const troubles: Readonly<Record<string, readonly (readonly [series: string, values: string])[]>> = {
  ManyhandsGatewayGone: [['manyhands_store_writable{agent="manus"}', "1+0x90"]],
  ManyhandsStoreNotWritable: [['manyhands_store_writable{agent="gateway"}', "0+0x90"]],
  ManyhandsNoAgentUp: [['manyhands_agent_up{agent="gateway",name="manus"}', "0+0x90"]],
  ManyhandsAgentDown: [
    ['manyhands_agent_up{agent="gateway",name="manus"}', "0+0x90"],
    ['manyhands_agent_up{agent="gateway",name="swe"}', "1+0x90"],
  ],
  ManyhandsAgentHeldBack: [['manyhands_agent_breaker_open{agent="gateway",name="manus"}', "1+0x90"]],
  ManyhandsRunsPaused: [['manyhands_runs{agent="manus",status="paused"}', "2+0x90"]],
  ManyhandsRunsQueued: [['manyhands_runs{agent="manus",status="queued"}', "3+0x90"]],
  ManyhandsRunsFailing: [
    ['manyhands_runs_ended_total{agent="manus",kind="manus",outcome="stuck"}', "0+1x90"],
    ['manyhands_runs_ended_total{agent="manus",kind="manus",outcome="completed"}', "5+0x90"],
  ],
  ManyhandsInternalFailures: [['manyhands_internal_failures_total{agent="manus"}', "0+1x90"]],
  ManyhandsRequestsFailing: [
    ['manyhands_http_requests_total{agent="gateway",route="/",status="200"}', "0+8x90"],
    ['manyhands_http_requests_total{agent="gateway",route="/",status="503"}', "0+2x90"],
  ],
  ManyhandsModelSlow: [
    ['manyhands_model_call_seconds_bucket{agent="manus",model="m",le="60"}', "0+1x90"],
    ['manyhands_model_call_seconds_bucket{agent="manus",model="m",le="120"}', "0+5x90"],
    ['manyhands_model_call_seconds_bucket{agent="manus",model="m",le="+Inf"}', "0+5x90"],
  ],
  ManyhandsReceiversGivenUp: [['manyhands_receivers{agent="gateway",status="failed"}', "0+1x90"]],
  ManyhandsSpending: [['manyhands_model_usd_total{agent="manus",model="m"}', "0+1x90"]],
};
/** A system in order, as far as it exposes what alerts look at. */
const order: readonly (readonly [string, string])[] = [
  ['manyhands_store_writable{agent="gateway"}', "1+0x90"],
  ['manyhands_agent_up{agent="gateway",name="manus"}', "1+0x90"],
  ['manyhands_agent_breaker_open{agent="gateway",name="manus"}', "0+0x90"],
  ['manyhands_runs{agent="manus",status="paused"}', "0+0x90"],
  ['manyhands_runs{agent="manus",status="queued"}', "0+0x90"],
  ['manyhands_runs_ended_total{agent="manus",kind="manus",outcome="completed"}', "0+1x90"],
  ['manyhands_runs_ended_total{agent="manus",kind="manus",outcome="stuck"}', "0+0x90"],
  ['manyhands_internal_failures_total{agent="manus"}', "0+0x90"],
  ['manyhands_http_requests_total{agent="gateway",route="/",status="200"}', "0+8x90"],
  ['manyhands_http_requests_total{agent="gateway",route="/readyz",status="503"}', "0+8x90"],
  ['manyhands_receivers{agent="gateway",status="failed"}', "4+0x90"],
  ['manyhands_model_usd_total{agent="manus",model="m"}', "0+0.01x90"],
];

const rules = join(root, "deploy/prometheus/manyhands.yaml");
const inputs = (series: readonly (readonly [string, string])[]) =>
  series.map(([name, values]) => ({ series: name, values }));

async function promtoolAccepts(tests: readonly object[]): Promise<void> {
  const file = join(folder, "alerts.json");
  await Bun.write(file, JSON.stringify({ rule_files: [rules], evaluation_interval: "1m", tests }));
  for (const argv of [
    ["check", "rules", rules],
    ["test", "rules", file],
  ]) {
    const child = Bun.spawn(["promtool", ...argv], { stdout: "pipe", stderr: "pipe" });
    const said = (await Promise.all([child.stdout.text(), child.stderr.text()])).join("");
    expect([await child.exited, said]).toEqual([0, expect.stringContaining("SUCCESS")]);
  }
}

test.skipIf(promtool === null)(
  "promtool accepts the rules; each alert is fired by its trouble, none by order",
  async () => {
    const count = (name: string) => `count(ALERTS{alertname="${name}",alertstate="firing"}) or vector(0)`;
    const fires = (name: string, isFiring: boolean) => ({
      ...{ expr: `(${count(name)}) > bool 0`, eval_time: "80m" },
      exp_samples: [{ labels: "{}", value: isFiring ? 1 : 0 }],
    });
    expect(Object.keys(troubles)).toEqual(alerts.map(({ name }) => name));
    const tests = [
      ...Object.entries(troubles).map(([name, series]) => ({
        ...{ interval: "1m", input_series: inputs(series), promql_expr_test: [fires(name, true)] },
      })),
      { interval: "1m", input_series: inputs(order), promql_expr_test: alerts.map(({ name }) => fires(name, false)) },
    ];
    await promtoolAccepts(tests);
  },
);

test.skipIf(promtool === null)("an alert tells whole receivers, where Prometheus extrapolates to 2.02", async () => {
  const summary = "gateway gave up notifying 2 receivers.";
  const runbook = "docs/how-to/watch.md#manyhandsreceiversgivenup";
  await promtoolAccepts([
    {
      interval: "1m",
      input_series: inputs([['manyhands_receivers{agent="gateway",status="failed"}', "_x30 4+0x40 6+0x10"]]),
      alert_rule_test: [
        {
          ...{ eval_time: "80m", alertname: "ManyhandsReceiversGivenUp" },
          exp_alerts: [
            { exp_labels: { agent: "gateway", severity: "warning" }, exp_annotations: { summary, runbook } },
          ],
        },
      ],
    },
  ]);
});
