import { expect, spyOn, test } from "bun:test";
import { modelConfigSchema } from "./config.ts";
import { listModels } from "./list-models.ts";

/** What an endpoint of this protocol lists, and how it was asked. */
async function listed(apiType: string, answer: object, status = 200) {
  const asked: { readonly path: string; readonly headers: [string, string][] }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const headers = [...request.headers].filter(([, value]) => value.includes("the-key"));
      asked.push({ path: new URL(request.url).pathname, headers });
      return Response.json(answer, { status });
    },
  });
  try {
    const config = modelConfigSchema.parse({
      name: "m",
      apiType,
      apiKey: "the-key",
      baseUrl: `${server.url.origin}/v1`,
    });
    const list = await listModels(config, AbortSignal.timeout(5_000));
    return { list, ...asked[0] };
  } finally {
    await server.stop(true);
  }
}

test.each([
  ["openai", { data: [{ id: "m", max_model_len: 4_096 }] }, ["authorization", "Bearer the-key"], 4_096],
  ["responses", { data: [{ id: "m" }] }, ["authorization", "Bearer the-key"], undefined],
  ["anthropic", { data: [{ id: "m", max_input_tokens: 200_000 }] }, ["x-api-key", "the-key"], 200_000],
  ["google", { models: [{ name: "models/m", inputTokenLimit: 1_000 }] }, ["x-goog-api-key", "the-key"], 1_000],
] as const)("the models of %s are listed with its own key and words", async (apiType, answer, header, window) => {
  const { list, path, headers } = await listed(apiType, answer);
  expect(list).toEqual({ status: 200, models: [{ id: "m", window }] });
  expect([path, headers]).toEqual(["/v1/models", [[...header]]]);
});

test("a refusal, and an answer that is no list, are told apart from an empty list", async () => {
  expect((await listed("anthropic", {}, 401)).list).toEqual({ status: 401 });
  expect((await listed("openai", { hello: 1 })).list).toEqual({ status: 200 });
  expect((await listed("openai", { data: [] })).list).toEqual({ status: 200, models: [] });
});

test("clouds that list no models are not asked", async () => {
  expect(await listed("azure", {})).toEqual({ list: undefined });
  expect(await listed("aws", {})).toEqual({ list: undefined });
});

test("a cloud that an identity opens is not asked without one, and who gives up is not kept waiting", async () => {
  const azure = modelConfigSchema.parse({ name: "m", baseUrl: "https://mine.openai.azure.com/openai/v1" });
  expect(await listModels(azure, AbortSignal.timeout(5_000))).toBeUndefined();
  const silent = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Promise<Response>(() => undefined) });
  const config = modelConfigSchema.parse({ name: "m", baseUrl: silent.url.origin });
  await expect(listModels(config, AbortSignal.timeout(20))).rejects.toMatchObject({ name: "TimeoutError" });
  await silent.stop(true);
});

test("a refusal that looks like a list is none", async () => {
  expect((await listed("openai", { data: [{ id: "m" }] }, 403)).list).toEqual({ status: 403 });
});

test("Azure's models are listed with a key, and not asked for where an identity would have to be shown", async () => {
  const asked: string[] = [];
  using _ = spyOn(globalThis, "fetch").mockImplementation((async (url: string) => {
    asked.push(url);
    return Response.json({ data: [{ id: "m" }] });
  }) as never);
  const list = (more: object) =>
    listModels(
      modelConfigSchema.parse({ name: "m", baseUrl: "https://mine.openai.azure.com/openai/v1/", ...more }),
      AbortSignal.timeout(5_000),
    );
  expect(await list({ apiKey: "k" })).toEqual({ status: 200, models: [{ id: "m", window: undefined }] });
  expect([await list({}), await list({ apiType: "azure", apiKey: "k" })]).toEqual([undefined, undefined]);
  expect(asked).toEqual(["https://mine.openai.azure.com/openai/v1/models"]);
});
