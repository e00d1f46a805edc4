import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { startHttpServer } from "../mcp/http-server.ts";
import { startGatewayServer, until } from "../servers/gateway-server.ts";
import { startManus } from "../servers/manus-server.ts";

/** A way to another server that keeps what passes through. */
function recorder(target: string) {
  const seen: { readonly headers: Headers; readonly body: string }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const body = await request.text();
      if (request.method === "POST") seen.push({ headers: request.headers, body });
      const { pathname, origin } = new URL(target);
      const path = new URL(request.url).pathname;
      const headers = new Headers(request.headers);
      headers.delete("host");
      const init = { method: request.method, headers, ...(body !== "" && { body }) };
      return fetch(`${origin}${path === "/" ? pathname : path}`, init);
    },
  });
  return { url: server.url.origin, seen, [Symbol.asyncDispose]: () => server.stop(true) };
}

const id = "4bf92f3577b34da6a3ce929d0e0e4736";
const traceparent = `00-${id}-00f067aa0ba902b7-01`;
const tracestate = "vendor=abc";

test("a caller's trace goes through gateway and agent to the model and the MCP server, across a restart of both", async () => {
  const home = await mkdtemp(join(tmpdir(), "traces-"));
  await using model = await startScriptedModel(({ messages }) => {
    const said = messages.filter(({ role }) => role === "tool");
    return said.length === 0 ? { calls: [{ name: "web__deploy", args: {} }] } : { text: "Done." };
  }).then((one) => ({ ...one, [Symbol.asyncDispose]: () => one.close() }));
  using web = startHttpServer();
  await using toModel = recorder(model.url);
  await using toWeb = recorder(web.url);
  await writeFile(
    join(home, "mcp.json"),
    JSON.stringify({ mcpServers: { web: { url: `${toWeb.url}${new URL(web.url).pathname}` } } }),
  );
  const env = {
    MANYHANDS_HOME: home,
    PORT: `${freePort()}`,
    OPENAI_BASE_URL: `${toModel.url}/v1`,
    OPENAI_API_KEY: "key",
    MANYHANDS_MODEL: "scripted",
  };
  let manus = startManus(env);
  await manus.ready;
  let gateway = await startGatewayServer(home);
  try {
    const { name } = (await gateway.call("/agents", { url: manus.url, name: "traced" })).body;
    const asked = await gateway.call(
      `/flows/${name}`,
      { input: "deploy" },
      { traceparent, tracestate, Prefer: "wait=30" },
    );
    expect(asked.body.status).toBe("input-required");
    await manus.stop("SIGKILL");
    await gateway.stop("SIGKILL");
    const before = { model: toModel.seen.length, web: toWeb.seen.length };
    manus = startManus(env);
    await manus.ready;
    gateway = await startGatewayServer(home);
    await gateway.call(`/runs/${asked.body.runId}/answer`, { input: "yes" });
    await until(async () => (await gateway.call(`/runs/${asked.body.runId}`)).body.status === "completed");

    const calls = toWeb.seen.filter(({ body }) => body.includes('"tools/call"'));
    const traces = [
      ...toModel.seen.map(({ headers }) => [headers.get("traceparent"), headers.get("tracestate")]),
      ...calls.map(({ headers }) => [headers.get("traceparent"), headers.get("tracestate")]),
      ...calls.map(({ body }) => JSON.parse(body).params._meta).map((meta) => [meta.traceparent, meta.tracestate]),
    ];
    expect(toModel.seen.length).toBeGreaterThan(before.model);
    expect(calls.length).toBe(2);
    expect(traces.length).toBeGreaterThanOrEqual(6);
    for (const [parent, state] of traces) {
      expect(parent).toMatch(new RegExp(`^00-${id}-[0-9a-f]{16}-01$`));
      expect(parent).not.toBe(traceparent);
      expect(state).toBe(tracestate);
    }

    const from = toModel.seen.length;
    for (const headers of [{}, { traceparent: "00-nothing-01", tracestate }]) {
      await gateway.call(`/flows/${name}`, { input: "deploy" }, { ...headers, Prefer: "wait=30" });
    }
    expect(toModel.seen.length).toBeGreaterThan(from);
    for (const { headers } of toModel.seen.slice(from)) {
      expect(headers.get("traceparent")).toBeNull();
      expect(headers.get("tracestate")).toBeNull();
    }
  } finally {
    await manus.stop("SIGKILL");
    await gateway.stop("SIGKILL");
    await rm(home, { recursive: true });
  }
});
