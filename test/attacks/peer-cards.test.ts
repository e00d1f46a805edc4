import { expect, test } from "bun:test";
import { createA2aClient } from "manyhands/internal/a2a/client/client";
import { badTask } from "manyhands/internal/testing/a2a/bad-agent";

const headers = { Authorization: "Bearer the-agents-token" };
const options = { headers, retry: { retries: 0, firstPauseMs: 1 } };

/** A server that records every request. */
function listener(hostname = "127.0.0.1") {
  const requests: Request[] = [];
  const server = Bun.serve({
    port: 0,
    hostname,
    fetch(request) {
      requests.push(request);
      return Response.json({ jsonrpc: "2.0", id: 1, result: { task: badTask("COMPLETED") } });
    },
  });
  return { url: server.url.origin, requests, [Symbol.dispose]: () => void server.stop(true) };
}

type Interface = { readonly url: string; readonly protocolBinding: string; readonly protocolVersion: string };

/** A server whose card says that its agent is at another address. */
function cardServer(cardOf: (own: string) => object, hostname = "127.0.0.1") {
  const calls: string[] = [];
  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname.endsWith("agent-card.json")) return Response.json(cardOf(server.url.origin));
      calls.push(pathname);
      const { id } = (await request.json()) as { id: unknown };
      return Response.json({ jsonrpc: "2.0", id, result: { task: badTask("COMPLETED") } });
    },
  });
  return { url: server.url.origin, calls, [Symbol.dispose]: () => void server.stop(true) };
}

const about = {
  name: "Elsewhere",
  description: "Its card names another server.",
  version: "1",
  capabilities: {},
  defaultInputModes: ["text"],
  defaultOutputModes: ["text"],
  skills: [],
};
const card = (...supportedInterfaces: Interface[]) => ({ ...about, supportedInterfaces });
const rpc = (url: string): Interface => ({ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" });
const rest = (url: string): Interface => ({ url, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" });
const legacy = (url: string) => ({ ...about, url, protocolVersion: "0.3.0", preferredTransport: "JSONRPC" });

test("an agent whose card names a server on another origin is refused, and nothing is sent there", async () => {
  using thief = listener();
  const { port } = new URL(thief.url);
  const elsewhere = [`${thief.url}/`, `http://user@127.0.0.1:${port}/`, `http://127.0.0.1.nip.example:${port}/`];
  for (const url of elsewhere)
    for (const shape of [card(rpc(url)), card(rest(url)), card(rpc(url), rest(url)), legacy(url)]) {
      using server = cardServer(() => shape);
      const refused = createA2aClient(server.url, options);
      expect(refused).rejects.toMatchObject({
        code: "forbidden",
        message: expect.stringContaining(new URL(url).origin),
      });
      await refused.catch(() => undefined);
    }
  expect(thief.requests).toEqual([]);
});

test("of a card's interfaces only those on its own origin are used, in any order", async () => {
  using thief = listener();
  for (const order of [0, 1]) {
    using server = cardServer((own) => {
      const both = [rpc(`${own}/mine`), rpc(`${thief.url}/`)];
      return card(...(order === 0 ? both : both.reverse()));
    });
    const client = await createA2aClient(server.url, options);
    expect((await client.submit({ text: "Hello" })).task.id).toBe("t1");
    expect(server.calls).toEqual(["/mine"]);
  }
  expect(thief.requests).toEqual([]);
});

test("the names of this machine's loopback are one server, and other ports of it are not", async () => {
  using server = cardServer((own) => card(rpc(own.replace("127.0.0.1", "localhost"))));
  const client = await createA2aClient(server.url, options);
  expect((await client.submit({ text: "Hello" })).task.id).toBe("t1");
  using lower = cardServer((own) => card(rpc(own.replace("http:", "https:"))));
  expect(createA2aClient(lower.url, options)).rejects.toMatchObject({ code: "forbidden" });
});
