import { expect, test } from "bun:test";
import type { Engine } from "../core/runs/engine.ts";
import { createMetrics } from "./metrics.ts";

/** An engine that has as many runs of a kind and status as the lengths of both names say. */
const list: Engine["list"] = async ({ kinds = [], statuses = [], limit }) => ({
  runs: [],
  total: limit === 1 ? [...kinds, ...statuses].join("").length : -1,
});
const health: Engine["health"] = () => ({ ok: true });
const kinds = () => ({ runs: ["swe", "flow"], deliveries: ["push"] });
const samples = (text: string) => text.split("\n").filter((line) => !line.startsWith("#"));

test("runs and receivers are counted by status, answers by route and status, failures together", async () => {
  const metrics = createMetrics('s"we', { list, health }, kinds);
  metrics.answered("/tasks/:id", 200);
  metrics.answered("/tasks/:id", 404);
  metrics.answered("/tasks/:id", 200);
  metrics.failed();
  metrics.failed();
  const label = 'agent="s\\"we"';
  const statuses = ["queued", "running", "waiting", "paused", "completed", "failed", "canceled"];
  const found = samples(await metrics.text());
  expect(found.toSorted()).toEqual(
    [
      ...statuses.map((one) => `manyhands_runs{${label},status="${one}"} ${7 + one.length}`),
      ...statuses.map((one) => `manyhands_receivers{${label},status="${one}"} ${4 + one.length}`),
      `manyhands_store_writable{${label}} 1`,
      `manyhands_http_requests_total{${label},route="/tasks/:id",status="200"} 2`,
      `manyhands_http_requests_total{${label},route="/tasks/:id",status="404"} 1`,
      `manyhands_internal_failures_total{${label}} 2`,
      "",
    ].toSorted(),
  );
  expect(found.at(-1)).toBe("");
});

test("whatever a label says stays in its line, and a store that takes no work is told as 0", async () => {
  const full: Engine["health"] = () => ({ ok: false, reason: "full" });
  const text = await createMetrics('a\\b"c\nd\\e"f\ng', { list, health: full }, kinds).text();
  expect(samples(text)).toContain('manyhands_store_writable{agent="a\\\\b\\"c\\nd\\\\e\\"f\\ng"} 0');
});

test("what tools served without a run used is told by direction, with its cost", async () => {
  const text = async (used: object) =>
    samples(await createMetrics("swe", { list, health }, kinds, { served: () => used as never }).text()).filter(
      (line) => line.includes("served"),
    );
  expect(await text({ tokens: 10, outputTokens: 3, usd: 0.5, unpriced: false })).toEqual([
    'manyhands_served_tools_tokens_total{agent="swe",direction="in"} 7',
    'manyhands_served_tools_tokens_total{agent="swe",direction="out"} 3',
    'manyhands_served_tools_usd_total{agent="swe"} 0.5',
  ]);
  expect((await text({ tokens: 10, usd: 0, unpriced: false }))[0]).toEndWith(" 10");
});

test("what else a server counts is told with the rest, under its own names", async () => {
  const samples = [{ labels: { kind: "swe" }, value: 2, suffix: "_sum" as const }];
  const families = () => [{ name: "manyhands_more", type: "counter" as const, help: "More.", samples }];
  const text = await createMetrics("swe", { list, health }, kinds, { families }).text();
  expect(text).toEndWith(
    '# HELP manyhands_more More.\n# TYPE manyhands_more counter\nmanyhands_more_sum{agent="swe",kind="swe"} 2\n',
  );
});

test("each series is announced with its kind before its samples", async () => {
  const text = await createMetrics("swe", { list, health }, kinds, {
    served: () => ({ tokens: 0, usd: 0, unpriced: false }),
  }).text();
  const announced = [...text.matchAll(/^# HELP (\S+) .+\n# TYPE \1 (\w+)\n/gm)].map(([, name, kind]) => [name, kind]);
  expect(announced).toEqual([
    ["manyhands_runs", "gauge"],
    ["manyhands_receivers", "gauge"],
    ["manyhands_store_writable", "gauge"],
    ["manyhands_http_requests_total", "counter"],
    ["manyhands_internal_failures_total", "counter"],
    ["manyhands_served_tools_tokens_total", "counter"],
    ["manyhands_served_tools_usd_total", "counter"],
  ]);
});
