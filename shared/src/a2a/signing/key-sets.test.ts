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

test("the sets of two hundred addresses are remembered, the latest ones", async () => {
  await using here = place(published("a"));
  for (let n = 0; n < 201; n++) await here.find("a", `/${n}`);
  expect([await here.find("a", "/200"), await here.find("a", "/1"), here.at.asked]).toEqual(["a", "a", 201]);
  await here.find("a", "/0");
  expect(here.at.asked).toBe(202);
});
