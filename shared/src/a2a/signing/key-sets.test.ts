import { afterAll, afterEach, expect, spyOn, test } from "bun:test";
import { createKeySets } from "./key-sets.ts";

const realNow = () => Bun.nanoseconds() / 1e6;
let passed = 0;
const clock = spyOn(performance, "now").mockImplementation(() => realNow() + passed);
afterEach(() => {
  passed = 0;
});
afterAll(() => clock.mockRestore());

const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
const jwk = await crypto.subtle.exportKey("jwk", pair.publicKey);
const setOf = (...kids: readonly string[]) => ({ keys: kids.map((kid) => ({ ...jwk, kid })) });

const answering = (body: object, status?: number) => () => Response.json(body, status === undefined ? {} : { status });
const published = (...kids: readonly string[]) => answering(setOf(...kids));

/** A server of key sets, and what reads them. */
function place(first: () => Response, origins: readonly string[] = []) {
  const at = { answer: first, asked: 0 };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      at.asked++;
      return at.answer();
    },
  });
  const { origin } = server.url;
  const sets = createKeySets({ origins, egress: { allow: [], deny: [], only: [] }, ageMs: 10_000, againMs: 1_000 });
  const find = (kid: string, path = "/jwks", owner = origin) =>
    sets.find(`${origin}${path}`, kid, owner).then(
      (key) => key.kid,
      (error: { code: string }) => error.code,
    );
  return { at, origin, sets, find, [Symbol.asyncDispose]: () => server.stop(true) };
}

test("a set is read once for many that ask at once, and again when it is old", async () => {
  await using here = place(published("a", "b"));
  expect(await Promise.all([here.find("a"), here.find("b"), here.find("a")])).toEqual(["a", "b", "a"]);
  expect(here.at.asked).toBe(1);
  here.at.answer = published("c");
  passed = 9_000;
  expect([await here.find("a"), here.at.asked]).toEqual(["a", 1]);
  passed = 10_000;
  expect([await here.find("a"), here.at.asked]).toEqual(["unauthorized", 2]);
});

test("for a key that it does not have a set is read again, but not at once", async () => {
  await using here = place(published("a"));
  expect([await here.find("b"), await here.find("b"), here.at.asked]).toEqual(["unauthorized", "unauthorized", 1]);
  here.at.answer = published("a", "b");
  passed = 1_000;
  expect([await here.find("b"), here.at.asked]).toEqual(["b", 2]);
  // One that it has needs no reading.
  passed = 9_000;
  expect([await here.find("a"), here.at.asked]).toEqual(["a", 2]);
});

test("a set that could not be read is read again, but not at once", async () => {
  await using here = place(answering({}, 503));
  expect([await here.find("a"), await here.find("a"), here.at.asked]).toEqual(["unavailable", "unavailable", 1]);
  here.at.answer = published("a");
  passed = 1_000;
  expect([await here.find("a"), here.at.asked]).toEqual(["a", 2]);
});

test.each([
  [404, setOf("a"), "not_found"],
  [500, setOf("a"), "unavailable"],
  [201, setOf("a"), "unavailable"],
  [200, { keys: [jwk] }, "unavailable"],
  [200, { keys: "a" }, "unavailable"],
  [200, [], "unavailable"],
])("an answer of %i that is no set of keys gives none: %#", async (status, body, code) => {
  await using here = place(answering(body, status));
  expect(await here.find("a")).toBe(code);
});

test("keys are read over https, or on this machine, from the server they are for or a trusted one", async () => {
  await using here = place(published("a"));
  await using trusting = place(published("a"), [here.origin]);
  expect(await here.find("a", "/other", `${here.origin}/agent`)).toBe("a");
  expect(await here.find("a", "/jwks", "http://127.0.0.1:1")).toBe("forbidden");
  const find = ({ sets }: typeof here, url: string, owner: string) =>
    sets.find(url, "a", owner).then(
      ({ kid }) => kid,
      (error: { code: string }) => error.code,
    );
  expect(await find(trusting, `${here.origin}/jwks`, "https://any.example")).toBe("a");
  for (const url of ["http://keys.example/jwks", "ftp://127.0.0.1/jwks", "file:///etc/keys", "nonsense", ""])
    expect([url, await find(here, url, url)]).toEqual([url, "forbidden"]);
  expect(here.at.asked).toBe(2);
});

test("a set and its server are looked for at the addresses that they have from here", async () => {
  await using here = place(published("a"));
  const inside = (url: string) => url.replace("https://public.example", here.origin);
  const sets = createKeySets({ egress: { allow: [], deny: [], only: [] }, inside });
  const found = (url: string, owner: string) =>
    sets.find(url, "a", owner).then(
      ({ kid }) => kid,
      (error: { code: string }) => error.code,
    );
  expect(await found("https://public.example/jwks", "https://public.example/agent")).toBe("a");
  expect(await found("https://public.example/jwks", here.origin)).toBe("a");
  expect(await found(`${here.origin}/jwks`, "https://public.example")).toBe("a");
  expect(await found("https://public.example/jwks", "https://other.example")).toBe("forbidden");
});

test("a set that is larger than a hundred kilobytes is not read, nor one of a server that is given up after five seconds", async () => {
  await using here = place(answering({ ...setOf("a"), more: "x".repeat(100_000) }));
  using timeout = spyOn(AbortSignal, "timeout");
  expect(await here.find("a")).toBe("too_large");
  expect(timeout.mock.calls).toEqual([[5_000]]);
});

test("a set is ten minutes old at most, and read again for an unknown key after half a minute", async () => {
  await using here = place(published("a"));
  const sets = createKeySets({ egress: { allow: [], deny: [], only: [] } });
  const readAt = async (seconds: number, kid: string) => {
    passed = seconds * 1_000;
    await sets.find(`${here.origin}/jwks`, kid, here.origin).catch(() => undefined);
    return here.at.asked;
  };
  for (const [seconds, kid, asked] of [
    [0, "a", 1],
    [29, "b", 1],
    [31, "b", 2],
    [629, "a", 2],
    [632, "a", 3],
  ] as const)
    expect([seconds, await readAt(seconds, kid)]).toEqual([seconds, asked]);
});

test("sets are read through the proxy of the settings, and of this system's servers with their own certificates", async () => {
  const asked: string[] = [];
  const data = (socket: Bun.Socket, head: Buffer) => {
    asked.push(head.toString().split("\r\n")[0] ?? "");
    socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  };
  const server = Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data } });
  const egress = { allow: [], deny: [], only: [], proxy: `http://127.0.0.1:${server.port}` };
  const url = "https://203.0.113.9/jwks";
  await expect(createKeySets({ egress }).find(url, "a", url)).rejects.toMatchObject({ code: "unavailable" });
  expect(asked).toEqual(["CONNECT 203.0.113.9:443 HTTP/1.1"]);
  server.stop(true);
  const tls = async ({ href }: URL) => void asked.push(href) as undefined;
  const own = "https://127.0.0.1:9/jwks";
  const direct = { allow: [], deny: [], only: [] };
  await expect(createKeySets({ egress: direct, tls }).find(own, "a", own)).rejects.toMatchObject({
    code: "unavailable",
  });
  expect(asked[1]).toBe(own);
});

test("the sets of two hundred addresses are remembered, the latest ones", async () => {
  await using here = place(published("a"));
  for (let n = 0; n < 201; n++) await here.find("a", `/${n}`);
  expect([await here.find("a", "/200"), await here.find("a", "/1"), here.at.asked]).toEqual(["a", "a", 201]);
  await here.find("a", "/0");
  expect(here.at.asked).toBe(202);
});
