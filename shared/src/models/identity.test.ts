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

/** The credentials that a machine in AWS gives; `silent` never answers. */
function machineInAws(answer: "credentials" | "silent") {
  const came: string[] = [];
  const credentials = { AccessKeyId: "AKIDMACHINE", SecretAccessKey: "secret", Token: "of-the-session" };
  const expires = () => new Date(Date.now() + 3_600_000).toISOString();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      came.push(request.method);
      if (answer === "silent") return new Promise<Response>(() => undefined);
      return Response.json({ ...credentials, Expiration: expires() });
    },
  });
  return { came, url: server.url.href, [Symbol.dispose]: () => void server.stop(true) };
}

/** Where AWS's library looks for credentials: nowhere but at this address. */
async function lookingAt(url: string | undefined, work: () => Promise<void>): Promise<void> {
  const before = { ...process.env };
  const names = Object.keys(process.env).filter((name) => name.startsWith("AWS_"));
  for (const name of names) delete process.env[name];
  const nowhere = {
    AWS_SHARED_CREDENTIALS_FILE: "/nowhere",
    AWS_CONFIG_FILE: "/nowhere",
    AWS_EC2_METADATA_DISABLED: "true",
  };
  Object.assign(process.env, nowhere, url !== undefined && { AWS_CONTAINER_CREDENTIALS_FULL_URI: url });
  try {
    await work();
  } finally {
    for (const name of [...Object.keys(nowhere), "AWS_CONTAINER_CREDENTIALS_FULL_URI"]) delete process.env[name];
    for (const name of names) process.env[name] = before[name];
  }
}

const hello = {
  messages: [{ role: "user", parts: [{ type: "text", text: "x" }] }],
  tools: [],
  toolChoice: "auto",
} as const;
const inAws = { apiType: "aws", apiKey: undefined, baseUrl: "http://127.0.0.1:1", region: "us-west-2" } as const;

test("Bedrock without a key is called with the machine's credentials and their session, asked for once", async () => {
  using machine = machineInAws("credentials");
  const wire = providerWires.bedrock;
  const server = startProvider(wire, [{ text: "a" }, { text: "b" }]);
  await lookingAt(machine.url, async () => {
    const model = createModel({ ...wire.settings, baseUrl: server.baseUrl, maxRetries: 0 });
    const ask = async () => (await reply(model, hello, { signal: AbortSignal.timeout(20_000) })).text;
    expect((await ask()) + (await ask())).toBe("ab");
    for (const { headers } of server.requests) {
      expect(headers.get("authorization")).toContain("Credential=AKIDMACHINE/");
      expect(headers.get("x-amz-security-token")).toBe("of-the-session");
    }
    expect([server.requests.length, machine.came.length]).toEqual([2, 1]);
    expect(await probeIdentity(inAws)).toBe("credentials of AWS");
    expect(await probeIdentity({ ...inAws, apiKey: "ABSK-a-key-of-bedrock-itself" })).toBeUndefined();
  });
  await server.close();
}, 30_000);

test("where AWS gives nobody's credentials, or says nothing, the failure tells that, and nothing is asked", async () => {
  using silent = machineInAws("silent");
  const wire = providerWires.bedrock;
  const server = startProvider(wire, [{ text: "never" }]);
  const failure = async () => {
    const model = createModel({ ...wire.settings, baseUrl: server.baseUrl, maxRetries: 0, firstDeltaTimeoutMs: 500 });
    const { code, message } = await reply(model, hello, { signal: AbortSignal.timeout(20_000) }).catch(
      (error) => error,
    );
    return `${code} ${message}`;
  };
  await lookingAt(undefined, async () => {
    expect(await failure()).toMatch(/^model_rejected .*AWS gave no credentials .*Set AWS_ACCESS_KEY_ID/);
    await expect(probeIdentity(inAws)).rejects.toMatchObject({ kind: "rejected" });
  });
  await lookingAt(silent.url, async () => {
    expect(await failure()).toMatch(/^model_unavailable .*stalled for 500 ms/);
  });
  expect(server.requests).toEqual([]);
  await server.close();
}, 30_000);

test("at Azure a key of its own is shown and no token, and its cloud in China has an audience of its own", async () => {
  const wire = providerWires.responses;
  const server = startProvider(wire, [{ text: "a" }]);
  const origin = "https://mine.openai.azure.cn";
  const here = (input: unknown, init?: RequestInit) =>
    fetch(String(input instanceof Request ? input.url : input).replace(origin, new URL(server.baseUrl).origin), init);
  const settings = { ...wire.settings, baseUrl: `${origin}${wire.base}`, apiKey: "its-own-key", maxRetries: 0 };
  const model = createModel(settings, { fetch: here as typeof fetch });
  expect((await reply(model, hello, { signal: AbortSignal.timeout(20_000) })).text).toBe("a");
  expect(server.requests[0]?.headers.get("authorization")).toBe("Bearer its-own-key");
  await server.close();
  const chat = startProvider(providerWires.openai, [{ text: "b" }]);
  const toChat = (input: unknown, init?: RequestInit) =>
    fetch(String(input instanceof Request ? input.url : input).replace(origin, new URL(chat.baseUrl).origin), init);
  const keyless = { ...providerWires.openai.settings, baseUrl: `${origin}${providerWires.openai.base}`, maxRetries: 0 };
  const open = createModel(keyless, { fetch: toChat as typeof fetch });
  expect((await reply(open, hello, { signal: AbortSignal.timeout(20_000) })).text).toBe("b");
  expect(chat.requests[0]?.headers.get("authorization")).toBe(`Bearer ${token}`);
  await chat.close();
  for (const apiType of ["azure", "responses", "openai"] as const)
    expect(await probeIdentity({ apiType, apiKey: undefined, baseUrl: origin, region: undefined })).toContain(
      "Entra ID",
    );
  expect(asked.at(-1)).toStartWith("https://cognitiveservices.azure.cn ");
  const openAi = { apiType: "openai", apiKey: undefined, baseUrl: "http://127.0.0.1:1", region: undefined } as const;
  expect(await probeIdentity(openAi)).toBeUndefined();
});

test("a key of its own needs no identity, and a word where one could stand is no Bedrock API key", async () => {
  const place = { baseUrl: "https://mine.openai.azure.com", region: undefined };
  expect(await probeIdentity({ apiType: "azure", apiKey: "k", ...place })).toBeUndefined();
  delete process.env.AWS_BEARER_TOKEN_BEDROCK;
  expect(bedrockKey({ apiKey: "bear" })).toBeUndefined();
  expect(bedrockKey({ apiKey: "ABSK-a-key-of-bedrock-itself" })).toBe("ABSK-a-key-of-bedrock-itself");
  expect(bedrockKey({ apiKey: "sk-proj-a-key-of-openai-in-the-environment" })).toBeUndefined();
  expect([bedrockKey({ apiKey: "k".repeat(19) }), bedrockKey({ apiKey: "k".repeat(20) })]).toEqual([
    undefined,
    "k".repeat(20),
  ]);
  process.env.AWS_BEARER_TOKEN_BEDROCK = "of-the-environment";
  expect(bedrockKey({ apiKey: undefined })).toBe("of-the-environment");
  expect(bedrockKey({ apiKey: "ABSK-a-key-of-bedrock-itself" })).toBe("ABSK-a-key-of-bedrock-itself");
  process.env.AWS_BEARER_TOKEN_BEDROCK = "";
  expect(bedrockKey({ apiKey: undefined })).toBeUndefined();
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
