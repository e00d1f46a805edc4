import { expect, mock, spyOn, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import { createWebhooks } from "./webhooks.ts";

const { signal } = new AbortController();
const local = { allow: ["127.0.0.1"], deny: [], only: [] };
const strict = { allow: [], deny: [], only: [] };

/** A receiver that answers with this status, and what it was sent. */
function receiver(status: number, headers: Record<string, string> = {}, said: string | null = null) {
  const got: { path: string; method: string; type: string | null; body: string }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const type = request.headers.get("Content-Type");
      got.push({ path: new URL(request.url).pathname, method: request.method, type, body: await request.text() });
      return new Response(said, { status, headers });
    },
  });
  const notification = { headers: { "Content-Type": "application/a2a+json" }, body: '{"n":1}' };
  return {
    got,
    post: (policy = local, until = signal) =>
      createWebhooks(policy).post(`${server.url.origin}/hook`, notification, until),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

test.each([200, 202, 204])("a notification that is answered with %i has arrived", async (status) => {
  await using there = receiver(status);
  expect(await there.post()).toBeUndefined();
  expect(there.got).toEqual([{ path: "/hook", method: "POST", type: "application/a2a+json", body: '{"n":1}' }]);
});

test("a receiver may say what it likes to a notification that it takes", async () => {
  await using there = receiver(200, {}, "thank you ".repeat(1_000));
  expect(await there.post()).toBeUndefined();
});

test.each([
  [300, true],
  [302, true],
  [304, true],
  [400, true],
  [404, true],
  [410, true],
  [408, false],
  [425, false],
  [429, false],
  [500, false],
  [503, false],
])("a refusal with status %i is final: %p", async (status, final) => {
  await using there = receiver(status);
  expect(await there.post()).toEqual({ reason: `it answered with HTTP status ${status}`, final });
});

test("a notification is not sent on to where its receiver points", async () => {
  for (const status of [301, 303, 307]) {
    await using there = receiver(status, { Location: "/elsewhere/with/a/secret" });
    // Where it points may hold the secret of the address that it was sent to.
    expect(await there.post()).toEqual({ reason: `it answered with HTTP status ${status}`, final: true });
    expect(there.got.map(({ path }) => path)).toEqual(["/hook"]);
  }
});

test("of what a receiver answers no more than a megabyte is read", async () => {
  const long = () => new Response(new Uint8Array(1_000_001));
  await using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: long });
  const refusal = await createWebhooks(local).post(server.url.href, { headers: {}, body: "" }, signal);
  expect(refusal).toMatchObject({ reason: expect.stringContaining("larger"), final: false });
});

test("an address that may not be reached is final, one that is away is not, and an abort is neither", async () => {
  await using there = receiver(200);
  expect(await there.post(strict)).toMatchObject({ final: true });
  expect(there.got).toEqual([]);
  const none = { headers: {}, body: "" };
  expect(await createWebhooks(local).post("nonsense", none, signal)).toMatchObject({ final: true });
  expect(await createWebhooks(local).post("http://127.0.0.1:9/", none, signal)).toMatchObject({ final: false });
  await expect(there.post(local, AbortSignal.abort("gone"))).rejects.toBe("gone");
});

test("what ends a notification is no refusal of its receiver, whatever the reason", async () => {
  const reason = new AppError("forbidden", "The run was canceled.");
  const until = new AbortController();
  const resolve = async () => {
    until.abort(reason);
    throw new AppError("unavailable", "No such name.");
  };
  const notification = { headers: {}, body: "" };
  const ended = createWebhooks(strict, { resolve }).post("https://receiver.example/", notification, until.signal);
  await expect(ended).rejects.toBe(reason);
});

test("an address of numbers is not looked up", async () => {
  const resolve = mock(async () => ["10.0.0.1"]);
  for (const host of ["93.184.216.34", "[2606:2800:220:1::1]"])
    await createWebhooks(strict, { resolve }).admit(`https://${host}/x`);
  expect(resolve).not.toHaveBeenCalled();
});

test("an address is admitted if it may be reached, and a name that does not resolve now may later", async () => {
  const at = (address: string) => createWebhooks(strict, { resolve: async () => [address] });
  const codeOf = (admitted: Promise<void>) =>
    admitted.then(
      () => "admitted",
      (error: AppError) => error.code,
    );
  expect(await codeOf(at("93.184.216.34").admit("https://receiver.example/x"))).toBe("admitted");
  expect(await codeOf(at("10.0.0.1").admit("https://receiver.example/x"))).toBe("forbidden");
  for (const [url, code] of [
    ["http://10.0.0.1/x", "forbidden"],
    ["http://[::1]/x", "forbidden"],
    ["ftp://receiver.example/x", "forbidden"],
  ] as const)
    expect([url, await codeOf(at("93.184.216.34").admit(url))]).toEqual([url, code]);
  const unknown = { resolve: () => Promise.reject(new AppError("unavailable", "No such name.")) };
  expect(await codeOf(createWebhooks(strict, unknown).admit("https://receiver.example"))).toBe("admitted");
});

test("a receiver has fifteen seconds to answer, and one of this system is recognised by its own certificate", async () => {
  using timeout = spyOn(AbortSignal, "timeout");
  const asked: string[] = [];
  const tls = async (url: URL) => {
    asked.push(url.href);
    return undefined;
  };
  const refusal = await createWebhooks(local, { tls }).post("https://127.0.0.1:9/x", { headers: {}, body: "" }, signal);
  expect(refusal).toMatchObject({ final: false });
  expect(asked).toEqual(["https://127.0.0.1:9/x"]);
  expect(timeout.mock.calls).toEqual([[15_000]]);
});

test("a notification goes through the proxy of the settings", async () => {
  const asked: string[] = [];
  const data = (socket: Bun.Socket, head: Buffer) => {
    asked.push(head.toString().split("\r\n")[0] ?? "");
    socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  };
  const proxy = Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data } });
  const webhooks = createWebhooks({ ...local, allow: ["203.0.113.9"] }, { proxy: `http://127.0.0.1:${proxy.port}` });
  await webhooks.post("https://203.0.113.9/x", { headers: {}, body: "" }, signal);
  expect(asked).toEqual(["CONNECT 203.0.113.9:443 HTTP/1.1"]);
  proxy.stop(true);
});
