import { afterAll, expect, test } from "bun:test";
import type { AppError } from "../core/errors.ts";
import { startProvider } from "../testing/models/provider-server.ts";
import { providerWires } from "../testing/models/provider-wires.ts";
import { reply } from "../testing/models/reply.ts";
import { createModel } from "./create-model.ts";
import { bedrockKey, entraLibrary, isAzure, probeIdentity } from "./identity.ts";

const token = "eyJ0-a-token-of-the-machine";
const asked: string[] = [];

/** The service of a machine in Azure that gives its identity's tokens; none for America's cloud. */
const service = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const resource = new URL(request.url).searchParams.get("resource") ?? "";
    asked.push(`${resource} ${request.headers.get("x-identity-header")}`);
    if (resource.endsWith(".us")) return Response.json({ error: "no identity" }, { status: 400 });
    const expires_on = String(Math.floor(Date.now() / 1000) + 86_400);
    return Response.json({ access_token: token, expires_on, resource, token_type: "Bearer" });
  },
});

// Azure's library finds the service once in a process.
const kept = { ...process.env };
Object.assign(process.env, { IDENTITY_ENDPOINT: `${service.url.origin}/token`, IDENTITY_HEADER: "of-the-machine" });
afterAll(async () => {
  for (const name of ["IDENTITY_ENDPOINT", "IDENTITY_HEADER", "AWS_BEARER_TOKEN_BEDROCK"]) {
    if (kept[name] === undefined) delete process.env[name];
    else process.env[name] = kept[name];
  }
  await service.stop(true);
});

test.each(["azure", "responses"] as const)(
  "%s without a key shows a token of Entra ID, which is asked for once",
  async (kind) => {
    const server = startProvider(providerWires[kind], [{ text: "a" }, { text: "b" }]);
    const wire = providerWires[kind];
    // The client speaks to Azure's name; here it is this machine that answers for it.
    const address = `https://mine.openai.azure.com${wire.base}`;
    const here = (input: unknown, init?: RequestInit) =>
      fetch(
        String(input instanceof Request ? input.url : input).replace(
          "https://mine.openai.azure.com",
          new URL(server.baseUrl).origin,
        ),
        init,
      );
    const model = createModel({ ...wire.settings, baseUrl: address, maxRetries: 0 }, { fetch: here as typeof fetch });
    try {
      const ask = () =>
        reply(
          model,
          { messages: [{ role: "user", parts: [{ type: "text", text: "x" }] }], tools: [], toolChoice: "auto" },
          { signal: AbortSignal.timeout(10_000) },
        );
      expect((await ask()).text + (await ask()).text).toBe("ab");
      expect(server.requests.map(({ headers }) => headers.get("authorization"))).toEqual([
        `Bearer ${token}`,
        `Bearer ${token}`,
      ]);
      expect(server.requests[0]?.headers.get("api-key")).toBeNull();
      expect([...new Set(asked)]).toEqual(["https://cognitiveservices.azure.com of-the-machine"]);
      expect(asked.length).toBe(1);
      expect(
        await probeIdentity({ apiType: "azure", apiKey: undefined, baseUrl: address, region: undefined }),
      ).toContain("Entra ID");
    } finally {
      await server.close();
    }
  },
);

test("an identity that is refused fails at once, with what to do", async () => {
  const model = createModel({ apiType: "azure", name: "m", baseUrl: "https://mine.openai.azure.us", maxRetries: 2 });
  const asking = reply(model, { messages: [], tools: [], toolChoice: "auto" }, { signal: AbortSignal.timeout(20_000) });
  const error = await asking.then(
    () => undefined,
    (failed: unknown) => failed as AppError,
  );
  expect(error?.message).toContain("Microsoft Entra ID gave no token");
  expect(error?.message).toContain("az login");
  expect(error?.code).toBe("model_rejected");
}, 30_000);

test("a key of its own needs no identity, and a word where one could stand is no Bedrock API key", async () => {
  const place = { baseUrl: "https://mine.openai.azure.com", region: undefined };
  expect(await probeIdentity({ apiType: "azure", apiKey: "k", ...place })).toBeUndefined();
  delete process.env.AWS_BEARER_TOKEN_BEDROCK;
  expect(bedrockKey({ apiKey: "bear" })).toBeUndefined();
  expect(bedrockKey({ apiKey: "ABSK-a-key-of-bedrock-itself" })).toBe("ABSK-a-key-of-bedrock-itself");
  expect(bedrockKey({ apiKey: "sk-proj-a-key-of-openai-in-the-environment" })).toBeUndefined();
  process.env.AWS_BEARER_TOKEN_BEDROCK = "of-the-environment";
  expect(bedrockKey({ apiKey: undefined })).toBe("of-the-environment");
});

test("Azure's clouds are known by their hosts", () => {
  expect(
    ["https://a.openai.azure.com/x", "https://a.openai.azure.us", "https://azure.com.evil.example"].map(isAzure),
  ).toEqual([true, true, false]);
});

test("where Azure's library is not installed, the failure says how to add it", async () => {
  const missing = () => import("@azure/identity").then(() => import(`${"@azure/identity"}-is-not-here`));
  expect(await entraLibrary(missing).catch((error) => error)).toMatchObject({
    kind: "rejected",
    message: expect.stringContaining("@azure/identity, which is not installed"),
    advice: expect.stringContaining("npm install @azure/identity"),
  });
  const broken = () => Promise.reject(new Error("disk"));
  expect(await entraLibrary(broken).catch((error) => error.message)).toBe("disk");
});
