import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGatewayServer, until } from "../servers/gateway-server.ts";

/** An agent that forwards every call to another address, under its own card. */
function forwarder(target: () => string) {
  const messages = new Set<string>();
  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      if (request.method === "GET") return Response.json(card);
      const headers = new Headers(request.headers);
      headers.delete("host");
      const body = await request.text();
      const messageId = /"messageId":"([^"]+)"/.exec(body)?.[1];
      if (/"method":"Send/.test(body) && messageId !== undefined) messages.add(messageId);
      return fetch(target(), { method: "POST", headers, body });
    },
  });
  const card = {
    name: "Ring",
    description: "Asks the agent whose agent it is.",
    version: "1",
    supportedInterfaces: [{ url: `${server.url.origin}/`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: {
      streaming: true,
      extensions: [{ uri: "urn:manyhands:agent:1" }, { uri: "urn:manyhands:journal:1" }],
    },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
  };
  return { url: server.url.origin, messages, [Symbol.asyncDispose]: () => server.stop(true) };
}

test("agents of a gateway that ask each other in a circle end with hop_limit, after as many tasks as the limit allows", async () => {
  const home = await mkdtemp(join(tmpdir(), "ring-"));
  const gateway = await startGatewayServer(home);
  await using ring = forwarder(() => `${gateway.url}/a2a/ring/`);
  try {
    expect((await gateway.call("/agents", { url: ring.url })).body.name).toBe("ring");
    const { body } = await gateway.call("/flows/ring", { input: "Round and round" }, { Prefer: "wait=40" });
    expect(body).toMatchObject({ status: "failed", error: { code: "hop_limit" } });
    await until(async () =>
      (await gateway.call("/runs")).body.runs.every(({ status }: { status: string }) => status === "failed"),
    );
    // Runs that a run asked for are not listed beside it.
    expect((await gateway.call("/runs")).body.total).toBe(1);
    expect(ring.messages.size).toBe(8);
  } finally {
    await gateway.stop("SIGKILL");
    await rm(home, { recursive: true });
  }
});
