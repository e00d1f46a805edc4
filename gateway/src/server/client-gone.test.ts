import { expect, test } from "bun:test";
import { connect } from "node:net";
import { startGateway, type TestGateway } from "../testing/gateway.ts";

const paths = ["/flows/echo", "/agents", "/v1/chat/completions", "/mcp", "/a2a/echo", "/a2a/echo/message:send"];

/** How a body says where it ends, before its beginning. */
const framings = ["Content-Length: 500\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n1f4\r\n"];

/** Sends the beginning of a request and closes the connection. */
async function breakOff({ url }: TestGateway, path: string, framing: string): Promise<void> {
  const { host, hostname, port } = new URL(url);
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    framing,
  ];
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname, () => {
    socket.write(`${head.join("\r\n")}{"model":`, () => socket.destroy());
  });
  socket.on("close", () => resolve());
  await promise;
}

/** How many answers a route has given so far, by their status. */
async function metrics({ url }: TestGateway): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}

test("a client that disconnects in mid-request is not reported as a bug by any adapter", async () => {
  await using gateway = await startGateway();
  for (const path of paths) for (const framing of framings) await breakOff(gateway, path, framing);
  // Every request is answered in the end, though nobody hears it.
  const answers = /^manyhands_http_requests_total\{.*route="(?!\/metrics").*\} (\d+)$/gm;
  const answered = async () =>
    [...(await metrics(gateway)).matchAll(answers)].reduce((sum, [, n]) => sum + Number(n), 0);
  await until(async () => (await answered()) + gateway.reported.length >= paths.length * framings.length);
  expect(gateway.reported).toEqual([]);
  expect(await metrics(gateway)).toMatch(/^manyhands_internal_failures_total\S* 0$/m);
});

test("a client that disconnects while it waits is not a bug; its completion is cancelled, a run continues", async () => {
  await using gateway = await startGateway();
  const headers = { "Content-Type": "application/json", Prefer: "wait=20" };
  const messages = [{ role: "user", content: "sleep" }];
  for (const [path, body, end] of [
    ["/flows/echo", { input: "sleep" }, "waiting"],
    ["/v1/chat/completions", { model: "echo", messages }, "canceled"],
    ["/v1/chat/completions", { model: "echo", messages, stream: true }, "canceled"],
  ] as const) {
    const leave = new AbortController();
    const request = { method: "POST", headers, body: JSON.stringify(body), signal: leave.signal };
    const before = (await runs(gateway)).length;
    const asking = fetch(`${gateway.url}${path}`, request).then((response) => response.text());
    await until(async () => (await runs(gateway)).length > before);
    leave.abort();
    await expect(asking).rejects.toThrow();
    await until(async () => (await runs(gateway))[0]?.status === end);
  }
  expect(gateway.reported).toEqual([]);
});

async function runs({ url }: TestGateway): Promise<{ status: string }[]> {
  return JSON.parse(await (await fetch(`${url}/runs`)).text()).runs;
}

async function until(check: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await check()); await Bun.sleep(10))
    if (Date.now() > deadline) throw new Error("It did not come to that within ten seconds.");
}
