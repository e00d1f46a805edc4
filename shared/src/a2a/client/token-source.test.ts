import { afterAll, afterEach, expect, spyOn, test } from "bun:test";
import { createTokenSource } from "./token-source.ts";

const realNow = performance.now.bind(performance);
let passed = 0;
const clock = spyOn(performance, "now").mockImplementation(() => realNow() + passed);
afterEach(() => {
  passed = 0;
});
afterAll(() => clock.mockRestore());

/** A source at a token endpoint whose tokens live for so long, and how often that was asked. */
function sourceOf(lifetime: object) {
  const asked: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      asked.push(await request.text());
      return Response.json({ access_token: `token ${asked.length}`, token_type: "Bearer", ...lifetime });
    },
  });
  const source = createTokenSource({ tokenUrl: server.url.href, clientId: "us", scopes: [] }, fetch);
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
