import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { rpc, sseItems, type Wire, wire } from "../a2a/rpc.ts";
import { stored } from "./store.ts";
import { actingFor, principalsOf, type System } from "./system.ts";

/** Everything that a home's servers and its command line show of its runs, by request. */
export type Views = Readonly<Record<string, Wire>>;

/** Requests all of it, from a home that is held still. */
export async function viewsOf(system: System): Promise<Views> {
  const { views, runs } = await viewsOfOne(system);
  Object.assign(views, await mcpViews(system.urls.gateway, runs));
  Object.assign(views, await commandLineViews(system, runs));
  for (const name of principalsOf(system).filter((one) => one !== "local")) {
    const seen = Object.entries((await viewsOfOne(actingFor(system, name))).views);
    for (const [key, view] of seen) views[`${name}: ${key}`] = view;
  }
  return eachOnce(JSON.parse(stored(JSON.stringify(views), system.names)));
}

/** What one principal is shown over REST and A2A, and the runs in it. */
async function viewsOfOne(system: System): Promise<{ views: Record<string, Wire>; runs: readonly Wire[] }> {
  const views: Record<string, Wire> = {};
  const { urls, headers } = system;
  const get = (path: string) => wire(fetch(`${urls.gateway}${path}`, { headers }));
  const list = await get("/runs?limit=200");
  views["GET /runs"] = list;
  for (const run of list.runs) {
    views[`GET /runs/${run.id}`] = await get(`/runs/${run.id}`);
    views[`GET /runs/${run.id}/events`] = await eventsOf(system, run.id, run.lastEvent);
  }
  for (const name of new Set<string>(list.runs.map((run: Wire) => run.name)))
    Object.assign(views, await a2aViews(`gateway/a2a/${name}`, `${urls.gateway}/a2a/${name}`, headers));
  Object.assign(views, await a2aViews("manus", urls.manus, headers));
  Object.assign(views, await a2aViews("data-analysis", urls["data-analysis"], headers));
  return { views, runs: list.runs };
}

/** Keeps a repeated value in one place only; the other places refer to it. */
function eachOnce(views: Views): Views {
  const keys = new Map(Object.entries(views).map(([key, value]) => [sortedJson(value), key]));
  const within = (value: Wire, isView: boolean): Wire => {
    const key = isView || typeof value !== "object" ? undefined : keys.get(sortedJson(value));
    if (key !== undefined) return { as: key };
    if (Array.isArray(value)) return value.map((one) => within(one, false));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, within(one, false)]));
  };
  return Object.fromEntries(Object.entries(views).map(([key, value]) => [key, within(value, true)]));
}

/** The same text for equal values, whatever the order of their keys. */
function sortedJson(value: Wire): string {
  return JSON.stringify(value, (_, one) =>
    typeof one !== "object" || one === null || Array.isArray(one)
      ? one
      : Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  );
}

/** A run's events up to number `last`: the stream of an unfinished run stays open after it. */
export async function eventsOf({ urls, headers }: System, id: string, last: number): Promise<Wire[]> {
  const url = `${urls.gateway}/runs/${id}/events`;
  const events: Wire[] = [];
  const stop = new AbortController();
  for await (const item of sseItems(await fetch(url, { headers, signal: stop.signal }))) {
    if (item.id === undefined) continue;
    events.push(item.data);
    if (item.id >= last) break;
  }
  stop.abort();
  return events;
}

/**
 * An agent's or a flow's tasks over A2A; over 0.3, which shows the same in other words, only the
 * oldest in each state.
 */
async function a2aViews(name: string, url: string, own: System["headers"]): Promise<Views> {
  const views: Record<string, Wire> = {};
  const result = async (method: string, params: object, headers = {}) => {
    const { body } = await rpc(url, method, params, { headers: { ...own, ...headers } });
    return body.result ?? body.error;
  };
  const all = { pageSize: 100, includeArtifacts: true, historyLength: 100 };
  const list = await result("ListTasks", all);
  views[`${name} ListTasks`] = list;
  for (const { id } of list.tasks) views[`${name} GetTask ${id}`] = await result("GetTask", { id });
  const states = new Map<string, string>(list.tasks.map(({ id, status }: Wire) => [status.state, id]));
  for (const id of states.values())
    views[`${name} tasks/get ${id}`] = await result("tasks/get", { id }, { "A2A-Version": "0.3" });
  return views;
}

async function mcpViews(gateway: string, runs: readonly Wire[]): Promise<Views> {
  const mcp = new Client({ name: "test", version: "1" });
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${gateway}/mcp`)));
  const views: Record<string, Wire> = { "MCP resources/list": await mcp.listResources() };
  for (const { id } of runs)
    views[`MCP run_status ${id}`] = await mcp.callTool({ name: "run_status", arguments: { run_id: id } });
  await mcp.close();
  return views;
}

/**
 * The terminal's output for one run in each state, with different names where possible. Runs two
 * commands at a time.
 */
async function commandLineViews({ cli }: System, runs: readonly Wire[]): Promise<Views> {
  const names = new Set<string>();
  const shown = [...new Set(runs.map(({ status }) => status))].map((state) => {
    const inState = runs.filter(({ status }) => status === state);
    const run = inState.find(({ name }) => !names.has(name)) ?? inState[0];
    names.add(run.name);
    return run;
  });
  const planned = runs.find(({ name, status }) => name === "planning" && status === "completed");
  const lines: string[][] = [
    ["runs", "list", "--limit", "100"],
    ["runs", "list", "--limit", "100", "--json"],
    ["runs", "show", planned.id, "--json"],
    ...shown.map(({ id }) => ["runs", "show", id]),
  ];
  const views: Record<string, Wire> = {};
  const next = async () => {
    for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
      const out = await cli(...line);
      views[`manyhands ${line.join(" ")}`] = line.includes("--json") ? jsonOf(out) : out.split("\n");
    }
  };
  await Promise.all([next(), next()]);
  return views;
}

/** One document, or one per line. */
function jsonOf(text: string): Wire {
  return text.startsWith("[")
    ? JSON.parse(text)
    : text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
}
