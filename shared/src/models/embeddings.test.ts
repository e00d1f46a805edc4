import { expect, test } from "bun:test";
import { modelConfigSchema } from "./config.ts";
import { closeness, createEmbedder } from "./embeddings.ts";

type Asked = { readonly model: string; readonly input: string[] };

/** An endpoint that answers as told; how often and what it was asked. */
function startEndpoint(answer: (asked: Asked, n: number) => unknown) {
  const asked: (Asked & { readonly path: string; readonly key: string | null })[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = (await request.json()) as Asked;
      const n = asked.push({ ...body, path: new URL(request.url).pathname, key: request.headers.get("authorization") });
      const said = await answer(body, n - 1);
      return said instanceof Response ? said : Response.json(said);
    },
  });
  const price = { inputPerMillion: 2, outputPerMillion: 100 };
  const config = { name: "e", baseUrl: `${server.url.origin}/v1`, apiKey: "key", price };
  const embedder = createEmbedder(modelConfigSchema.parse(config));
  const embed = (texts: string[], signal = new AbortController().signal) => embedder.embed(texts, signal);
  return { asked, embed, [Symbol.dispose]: () => void server.stop(true) };
}

/** A vector for each text of a number: that number and one. */
const numbered = ({ input }: Asked) => input.map((text, index) => ({ index, embedding: [Number(text), 1] }));
const texts = (count: number) => Array.from({ length: count }, (_, at) => String(at));

test("texts go sixty-four at a time, and each has its own vector of length 1, in whatever order they come", async () => {
  using at = startEndpoint((asked) => ({ data: numbered(asked).toReversed(), usage: { prompt_tokens: 1_000 } }));
  const { vectors, usage } = await at.embed(texts(130));
  expect(at.asked.map(({ path, key, model, input }) => [path, key, model, input.length])).toEqual([
    ...[64, 64, 2].map((count) => ["/v1/embeddings", "Bearer key", "e", count]),
  ] as never);
  expect(vectors).toHaveLength(130);
  for (const [n, vector] of vectors.entries()) {
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    expect((vector[0] ?? 0) / (vector[1] ?? 0)).toBeCloseTo(n, 2);
  }
  expect(usage).toEqual({
    ...{ inputTokens: 3_000, cachedInputTokens: 0, outputTokens: 0 },
    ...{ costUsd: 0.006, source: "provider" },
  });
  expect(await at.embed([])).toMatchObject({ vectors: [], usage: { inputTokens: 0 } });
  expect(at.asked).toHaveLength(3);
});

test("what one of several requests does not count is estimated, and the whole counts as an estimate", async () => {
  using at = startEndpoint((asked, n) => ({ data: numbered(asked), ...(n === 0 && { usage: { prompt_tokens: 5 } }) }));
  const { usage } = await at.embed(texts(66));
  expect(usage).toMatchObject({ source: "estimate" });
  expect(usage.inputTokens).toBeGreaterThan(5);
  expect(usage.inputTokens).toBeLessThan(15);
  using last = startEndpoint((asked, n) => ({
    data: numbered(asked),
    ...(n === 1 && { usage: { prompt_tokens: 5 } }),
  }));
  expect((await last.embed(texts(66))).usage.source).toBe("estimate");
});

test.each<[string, (asked: Asked) => unknown]>([
  ["fewer vectors than texts", (asked) => ({ data: numbered(asked).slice(1) })],
  ["more of them", (asked) => ({ data: [...numbered(asked), { index: 9, embedding: [1] }] })],
  [
    "an empty vector",
    () => ({
      data: [
        { index: 0, embedding: [] },
        { index: 1, embedding: [1] },
      ],
    }),
  ],
  ["no vectors", () => ({ error: "none" })],
  ["an error", () => new Response("broken", { status: 400 })],
])("%s is told as a failure of the model, and asked for once", async (_, answer) => {
  using at = startEndpoint(answer);
  await expect(at.embed(["1", "2"])).rejects.toMatchObject({
    code: "model_unavailable",
    message: expect.stringMatching(/^The embeddings of e failed: ./),
  });
  expect(at.asked).toHaveLength(1);
});

test("who gives up is told their own reason", async () => {
  const control = new AbortController();
  using at = startEndpoint(() => {
    control.abort(new Error("enough"));
    return new Promise(() => undefined);
  });
  const told = await at.embed(["1"], control.signal).catch((error: Error) => error.message);
  expect(told).toBe("enough");
});

test("vectors of nothing and of other models are close to none, the same to itself most", async () => {
  using at = startEndpoint(({ input }) => ({
    data: input.map((text, index) => ({ index, embedding: text === "none" ? [0, 0] : [Number(text), 2] })),
  }));
  const { vectors } = await at.embed(["none", "1", "-4"]);
  const [none = new Float32Array(), one = none, across = none] = vectors;
  expect([...none]).toEqual([0, 0]);
  expect(closeness(one, one)).toBeCloseTo(1, 5);
  expect([closeness(one, across), closeness(none, one)].map((by) => Math.abs(by) < 1e-6)).toEqual([true, true]);
  expect([closeness(one, Float32Array.of(1)), closeness(Float32Array.of(1), one)]).toEqual([0, 0]);
});
