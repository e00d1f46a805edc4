import { afterAll, afterEach, expect, spyOn, test } from "bun:test";
import { createTokenSource, type TokenRequest } from "./token-source.ts";

const realNow = () => Bun.nanoseconds() / 1e6;
let passed = 0;
const clock = spyOn(performance, "now").mockImplementation(() => realNow() + passed);
afterEach(() => {
  passed = 0;
});
afterAll(() => clock.mockRestore());

/** A source at a token endpoint whose tokens live for so long, and what that was asked for. */
function sourceOf(lifetime: object, request: Partial<TokenRequest> = {}, status = 200) {
  const asked: { readonly form: object; readonly authorization: string | null }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const form = Object.fromEntries(new URLSearchParams(await request.text()));
      asked.push({ form, authorization: request.headers.get("authorization") });
      const token = { access_token: `token ${asked.length}`, token_type: "Bearer", ...lifetime };
      return Response.json(status === 200 ? token : { error: "no_luck" }, { status });
    },
  });
  const source = createTokenSource({ tokenUrl: server.url.href, clientId: "us", scopes: [], ...request }, fetch);
  return { source, asked, [Symbol.asyncDispose]: () => server.stop(true) };
}

test.each([
  [{ expires_in: 3_600 }, 3_540],
  [{ expires_in: "3600" }, 3_540],
  [{ expires_in: 60 }, 30],
  [{}, 240],
])("a token that lives as %j says is renewed %d seconds later, before it ends", async (lifetime, seconds) => {
  await using at = sourceOf(lifetime);
  expect(await at.source.token(false)).toBe("token 1");
  passed = (seconds - 5) * 1_000;
  expect(await at.source.token(false)).toBe("token 1");
  passed = seconds * 1_000;
  expect(await at.source.token(false)).toBe("token 2");
});

test("many callers at once share one request, and one that was refused gets another token", async () => {
  await using at = sourceOf({ expires_in: 3_600 });
  const tokens = await Promise.all(Array.from({ length: 50 }, () => at.source.token(false)));
  expect([new Set(tokens).size, at.asked.length]).toEqual([1, 1]);
  expect(await at.source.token(true)).toBe("token 2");
  expect(await at.source.token(false)).toBe("token 2");
});

test("an endpoint that failed is asked again by the next caller", async () => {
  const answers = [Response.json({}, { status: 503 }), Response.json({ access_token: "t" })];
  const source = createTokenSource(
    { tokenUrl: "http://id.example/token", scopes: [] },
    async () => answers.shift() ?? Response.error(),
  );
  await expect(source.token(false)).rejects.toMatchObject({ code: "unavailable" });
  expect(await source.token(false)).toBe("t");
});

test("an endpoint has ten seconds to answer", async () => {
  using timeout = spyOn(AbortSignal, "timeout").mockReturnValue(AbortSignal.abort("late"));
  const hangs = (_: unknown, init?: RequestInit) =>
    init?.signal?.aborted === true ? Promise.reject(init.signal.reason) : Promise.resolve(Response.json({}));
  const source = createTokenSource({ tokenUrl: "http://id.example/token", scopes: [] }, hangs);
  await expect(source.token(false)).rejects.toThrow("The token endpoint at id.example did not answer within 10 s.");
  expect(timeout.mock.calls).toEqual([[10_000]]);
});

test("the endpoint is asked for what is configured and nothing else, and a secret is no part of the form", async () => {
  await using plain = sourceOf({});
  await using full = sourceOf({}, { scopes: ["a", "b"], audience: "them", secret: { text: "s:1" } });
  await Promise.all([plain.source.token(false), full.source.token(false)]);
  expect(plain.asked).toEqual([{ form: { grant_type: "client_credentials", client_id: "us" }, authorization: null }]);
  const form = { grant_type: "client_credentials", scope: "a b", audience: "them" };
  expect(full.asked).toEqual([{ form, authorization: `Basic ${btoa("us:s%3A1")}` }]);
});

test.each([
  [400, "unauthorized"],
  [401, "unauthorized"],
  [404, "unauthorized"],
  [429, "unavailable"],
  [500, "unavailable"],
  [503, "unavailable"],
  [204, "unavailable"],
])("an endpoint that answers %d refuses or cannot be asked: %s", async (status, code) => {
  await using at = sourceOf({}, {}, status);
  await expect(at.source.token(false)).rejects.toMatchObject({ code });
});

test("a token in a failed answer does not count, and neither does anything that is not a token", async () => {
  const answering = (body: unknown, status: number) =>
    createTokenSource({ tokenUrl: "http://id.example/token", scopes: [] }, async () => Response.json(body, { status }));
  const token = { access_token: "t" };
  expect(await answering(token, 200).token(false)).toBe("t");
  for (const status of [201, 302, 500])
    await expect(answering(token, status).token(false)).rejects.toMatchObject({ code: "unavailable" });
  await expect(answering(token, 400).token(false)).rejects.toThrow("refused to give a token: HTTP status 400.");
  await expect(answering({ error: "no_luck" }, 403).token(false)).rejects.toThrow("refused to give a token: no_luck.");
  await expect(answering({ error: "secret <b>" }, 403).token(false)).rejects.toThrow("HTTP status 403.");
  for (const none of [{}, { access_token: "" }, { ...token, expires_in: -1 }])
    await expect(answering(none, 200).token(false)).rejects.toMatchObject({ code: "unavailable" });
});
