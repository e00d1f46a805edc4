import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { startHttpServer } from "../mcp/http-server.ts";
import { startGatewayServer, until } from "../servers/gateway-server.ts";
import { startAgent } from "../servers/manus-server.ts";

type Span = {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
};

/** A request to a collector (OTLP 1.x as JSON), as far as it is read here. */
type Otlp = {
  readonly resourceSpans: readonly {
    readonly resource: {
      readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
    };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
};

/** A collector that takes OTLP as JSON; spans sent again under the same id count once. */
function startCollector() {
  const spans = new Map<string, Span & { readonly service: string }>();
  const keys: (string | null)[] = [];
  let isAway = false;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (isAway) return new Response(null, { status: 400 });
      keys.push(`${new URL(request.url).pathname} ${request.headers.get("x-key")}`);
      const { resourceSpans } = (await request.json()) as Otlp;
      for (const { resource, scopeSpans } of resourceSpans) {
        const service = resource.attributes.find(({ key }) => key === "service.name")?.value.stringValue ?? "";
        for (const { spans: some } of scopeSpans) for (const span of some) spans.set(span.spanId, { ...span, service });
      }
      return Response.json({});
    },
  });
  return {
    url: server.url.origin,
    all: () => [...spans.values()],
    keys,
    goAway: (away: boolean) => {
      isAway = away;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

const parentOf = (traceparent: string | null | undefined) => traceparent?.split("-")[2];

test("a flow over two agents and an MCP server is one trace at the collector, across kill -9 of all and a collector that was away", async () => {
  const home = await mkdtemp(join(tmpdir(), "telemetry-"));
  await using model = await startScriptedModel(({ messages, tools = [] }) => {
    const isDone = messages.some(({ role }) => role === "tool");
    const deploys = JSON.stringify(tools).includes("web__deploy");
    return deploys && !isDone ? { calls: [{ name: "web__deploy", args: {} }] } : { text: "A private answer." };
  }).then((one) => ({ ...one, [Symbol.asyncDispose]: () => one.close() }));
  using web = startHttpServer();
  await using collector = startCollector();
  await writeFile(join(home, "mcp.json"), JSON.stringify({ mcpServers: { web: { url: web.url } } }));
  const shared = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: "x-key=let%20me" };
  const env = (name: string) => ({
    ...shared,
    MANYHANDS_HOME: join(home, name),
    MANYHANDS_MCP: join(home, "mcp.json"),
    PORT: `${freePort()}`,
    OPENAI_BASE_URL: `${model.url}/v1`,
    OPENAI_API_KEY: "key",
    MANYHANDS_MODEL: "scripted",
  });
  const [forManus, forSwe] = [env("manus"), env("swe")];
  for (const { MANYHANDS_HOME } of [forManus, forSwe]) await mkdir(MANYHANDS_HOME);
  const startBoth = async () => {
    const both = [startAgent("manus", forManus), startAgent("swe", forSwe)];
    await Promise.all(both.map(({ ready }) => ready));
    return both;
  };
  let agents = await startBoth();
  let gateway = await startGatewayServer(home, shared);
  try {
    for (const [n, name] of ["manus", "swe"].entries())
      await gateway.call("/agents", { url: agents[n]?.url, name: `my-${name}` });
    const asked = await gateway.call(
      "/flows/sequential",
      { input: "a private task", agents: ["my-manus", "my-swe"] },
      { Prefer: "wait=30" },
    );
    expect(asked.body).toMatchObject({ status: "input-required" });
    collector.goAway(true);
    for (const server of [...agents, gateway]) await server.stop("SIGKILL");
    agents = await startBoth();
    gateway = await startGatewayServer(home, shared);
    await gateway.call(`/runs/${asked.body.runId}/answer`, { input: "yes" });
    await until(async () => (await gateway.call(`/runs/${asked.body.runId}`)).body.status === "completed");
    collector.goAway(false);
    const names = () => collector.all().map(({ name }) => name);
    for (const root of ["invoke_workflow sequential", "invoke_agent manus", "invoke_agent swe"])
      await until(async () => names().includes(root));

    const spans = collector.all();
    const known = new Set(spans.map(({ spanId }) => spanId));
    const named = (name: string) => spans.filter((span) => span.name === name);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([asked.body.runId.replaceAll("-", "")]));
    expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(["gateway", "manus", "swe"]));
    for (const { name, parentSpanId } of spans)
      if (name !== "invoke_workflow sequential") expect(known).toContain(parentSpanId ?? "none");
    const [flow] = named("invoke_workflow sequential");
    const [ask] = named("invoke_agent my-manus");
    const [manus] = named("invoke_agent manus");
    const [call] = named("execute_tool web__deploy");
    expect(ask?.parentSpanId).toBe(flow?.spanId);
    expect(manus?.parentSpanId).toBe(ask?.spanId);
    expect(call?.parentSpanId).toBe(manus?.spanId);
    expect(
      named("wait for a person")
        .map(({ service }) => service)
        .toSorted(),
    ).toEqual(["gateway", "manus"]);
    expect(named("chat scripted").length).toBeGreaterThanOrEqual(3);
    for (const { headers } of model.requests) expect(known).toContain(parentOf(headers.traceparent) ?? "none");
    expect(web.headers.map((one) => parentOf(one.get("traceparent")))).toContain(call?.spanId);
    expect(JSON.stringify(spans)).not.toContain("private");
    expect(new Set(collector.keys)).toEqual(new Set(["/v1/traces let me"]));

    const metrics = await Promise.all(
      [gateway.url, ...agents.map(({ url }) => url)].map(async (url) => (await fetch(`${url}/metrics`)).text()),
    );
    const documented = await Bun.file(resolve(import.meta.dir, "../../docs/how-to/watch.md")).text();
    for (const [, family] of metrics.join("").matchAll(/^# TYPE (\S+)/gm)) expect(documented).toContain(family ?? "");
    expect(metrics[0]).toContain('manyhands_runs_ended_total{agent="gateway",kind="sequential",outcome="completed"} 1');
    expect(metrics[0]).toContain('manyhands_agent_up{agent="gateway",name="my-manus"} 1');
    expect(metrics[1]).toMatch(/manyhands_tool_call_seconds_count\{agent="manus",tool="web__deploy",outcome="\w+"\} 1/);
    expect(metrics[2]).toContain('manyhands_model_call_seconds_count{agent="swe",model="scripted"} 1');
  } finally {
    for (const server of [...agents, gateway]) await server.stop("SIGKILL");
    await rm(home, { recursive: true });
  }
}, 120_000);
