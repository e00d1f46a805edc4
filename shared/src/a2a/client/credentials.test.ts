import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentCard } from "@a2a-js/sdk";
import { AppError } from "../../core/errors.ts";
import { cardOf } from "../../testing/a2a/card.ts";
import { createA2aClient } from "./client.ts";
import { authorizedFetch, bearerCredentials, type Credentials } from "./credentials.ts";

const retry = { retries: 0, firstPauseMs: 1 };

/** An A2A agent that answers only those whose headers `admits` accepts; its card is public. */
function protectedAgent(admits: (headers: Headers) => boolean) {
  const seen: Headers[] = [];
  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (request.method === "GET")
        return Response.json(AgentCard.toJSON({ ...cardOf("Guarded", server.url.origin), capabilities: undefined }));
      seen.push(request.headers);
      if (!admits(request.headers)) return new Response(null, { status: 401 });
      const { id } = JSON.parse(await request.text());
      const message = { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hello" }] };
      return Response.json({ jsonrpc: "2.0", id, result: { message } });
    },
  });
  return { url: server.url.origin, seen, [Symbol.asyncDispose]: () => server.stop(true) };
}

type TokenEndpoint = AsyncDisposable & {
  readonly url: string;
  readonly asked: { readonly form: Record<string, string>; readonly authorization: string | null }[];
  answer: (() => Response) | undefined;
  /** Whether a request carries the newest token. */
  admits(headers: Headers): boolean;
  revoke(): void;
};

/** A token endpoint; `answer` may replace its answer. */
function tokenEndpoint(expiresIn = 3600): TokenEndpoint {
  const asked: TokenEndpoint["asked"] = [];
  let valid = "";
  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const form = Object.fromEntries(new URLSearchParams(await request.text()));
      asked.push({ form, authorization: request.headers.get("Authorization") });
      if (endpoint.answer !== undefined) return endpoint.answer();
      valid = `token-${asked.length}`;
      return Response.json({ access_token: valid, token_type: "Bearer", expires_in: expiresIn });
    },
  });
  const endpoint: TokenEndpoint = {
    url: `${server.url.origin}/token`,
    asked,
    answer: undefined,
    admits: (headers: Headers) => headers.get("Authorization") === `Bearer ${valid}`,
    revoke() {
      valid = "";
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return endpoint;
}

async function ask(url: string, credentials: Credentials) {
  const client = await createA2aClient(url, { fetch: authorizedFetch(fetch, credentials, url), retry });
  return async () => (await client.submit({ text: "Hi" })).isReply;
}

const oauth = (tokenUrl: string): Credentials => ({
  identity: { kind: "oauth", tokenUrl, clientId: "me:here", secret: { text: "top secret" }, scopes: ["ask", "read"] },
});

test("a bearer token and an API key are shown as they are, a file's as it now stands", async () => {
  const folder = await mkdtemp(join(tmpdir(), "credentials-"));
  const file = join(folder, "key");
  await using agent = protectedAgent((headers) => ["Bearer one", null].includes(headers.get("Authorization")));
  const secret = { file };
  const open = () => ask(agent.url, { identity: { kind: "api_key", header: "X-Door", secret } });
  await expect(open()).rejects.toMatchObject({ code: "unauthorized" });
  await writeFile(file, "zeroth");
  const send = await open();
  for (const key of ["first", "second"]) {
    await writeFile(file, `${key}\n`);
    expect(await send()).toBe(true);
    expect(agent.seen.at(-1)?.get("X-Door")).toBe(key);
  }
  await (await ask(agent.url, bearerCredentials("one")))();
  expect(agent.seen.at(-1)?.get("Authorization")).toBe("Bearer one");
  await rm(folder, { recursive: true });
});

test("a token by client credentials is fetched once for many, and once more when it is refused", async () => {
  await using endpoint = tokenEndpoint();
  await using agent = protectedAgent(endpoint.admits);
  const send = await ask(agent.url, oauth(endpoint.url));
  await Promise.all([send(), send(), send()]);
  expect(endpoint.asked).toEqual([
    {
      form: { grant_type: "client_credentials", scope: "ask read" },
      authorization: `Basic ${btoa("me%3Ahere:top%20secret")}`,
    },
  ]);
  endpoint.revoke();
  expect(await send()).toBe(true);
  expect(endpoint.asked).toHaveLength(2);
  await using closed = protectedAgent(() => false);
  await expect((await ask(closed.url, oauth(endpoint.url)))()).rejects.toMatchObject({ code: "unauthorized" });
  // For the card, and once more after the refusal.
  expect(endpoint.asked).toHaveLength(4);
  expect(closed.seen).toHaveLength(2);
});

test("a token is renewed before it expires", async () => {
  await using endpoint = tokenEndpoint(0);
  await using agent = protectedAgent(endpoint.admits);
  const send = await ask(agent.url, oauth(endpoint.url));
  await send();
  await send();
  expect(agent.seen).toHaveLength(2);
  expect(endpoint.asked).toHaveLength(3);
});

test("a token is exchanged for one that the agent takes", async () => {
  await using endpoint = tokenEndpoint();
  await using agent = protectedAgent(endpoint.admits);
  const subject = { text: "mine" };
  const audience = "https://agents.example.com";
  const identity = { kind: "token_exchange", tokenUrl: endpoint.url, subject, scopes: [], audience } as const;
  expect(await (await ask(agent.url, { identity }))()).toBe(true);
  expect(endpoint.asked[0]?.form).toEqual({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: "mine",
    subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
    audience,
  });
});

test("a token endpoint that refuses, fails, moves or talks nonsense is named without what was sent to it", async () => {
  await using endpoint = tokenEndpoint();
  await using agent = protectedAgent(endpoint.admits);
  const echo = { error: "invalid_client", error_description: "top secret is wrong" };
  for (const [answer, code, words] of [
    [() => Response.json(echo, { status: 401 }), "unauthorized", "invalid_client"],
    [() => new Response("top secret", { status: 400 }), "unauthorized", "HTTP status 400"],
    [() => new Response("top secret", { status: 503 }), "unavailable", "HTTP status 503"],
    [() => Response.json({ access_token: 1, secret: "top secret" }), "unavailable", "gave no token"],
    [() => Response.redirect(agent.url), "unavailable", "did not answer"],
  ] as const) {
    endpoint.answer = answer;
    const error = await ask(agent.url, oauth(endpoint.url)).then(
      () => undefined,
      (found: unknown) => found,
    );
    expect(error).toBeInstanceOf(AppError);
    expect(Bun.inspect(error)).not.toContain("top secret");
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) });
  }
  expect(agent.seen).toHaveLength(0);
});

test("credentials go to no other server, also not by a redirect", async () => {
  await using other = protectedAgent(() => true);
  await using agent = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(null, { status: 307, headers: { Location: other.url } }),
  });
  const credentials = { identity: { kind: "api_key", header: "X-Door", secret: { text: "s" } } } as const;
  const authorized = authorizedFetch(fetch, credentials, agent.url.origin);
  const body = JSON.stringify({ id: 1 });
  await expect(authorized(agent.url, { method: "POST", body })).rejects.toThrow();
  expect(other.seen).toHaveLength(0);
  await authorized(other.url, { method: "POST", body });
  expect(other.seen[0]?.get("X-Door")).toBeNull();
});

const openssl = Bun.which("openssl");
if (openssl === null) console.warn("skipped: mutual TLS of the client, since there is no openssl to make certificates");

test.skipIf(openssl === null)(
  "a client certificate is shown to a server that wants one, whose own is checked",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "mtls-"));
    const make = (...args: string[]) => Bun.$`openssl ${args}`.cwd(folder).quiet();
    const root = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
    await make(...root, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=test");
    for (const name of ["server", "client"]) {
      await make(
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-keyout",
        `${name}.key`,
        "-out",
        `${name}.csr`,
        "-subj",
        `/CN=${name}`,
      );
      await writeFile(join(folder, "names"), "subjectAltName=IP:127.0.0.1");
      await make(
        "x509",
        "-req",
        "-in",
        `${name}.csr`,
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        "names",
        "-out",
        `${name}.pem`,
      );
    }
    const path = (name: string) => join(folder, name);
    await using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      tls: {
        cert: Bun.file(path("server.pem")),
        key: Bun.file(path("server.key")),
        ca: Bun.file(path("ca.pem")),
        requestCert: true,
        rejectUnauthorized: true,
      },
      fetch: () => new Response("in"),
    });
    const url = `https://127.0.0.1:${server.port}`;
    const ca = path("ca.pem");
    const own = { cert: path("client.pem"), key: path("client.key") };
    expect(await (await authorizedFetch(fetch, { tls: { ...own, ca } }, url)(url)).text()).toBe("in");
    await expect(authorizedFetch(fetch, { tls: { ca } }, url)(url)).rejects.toThrow();
    await expect(authorizedFetch(fetch, { tls: own }, url)(url)).rejects.toThrow();
    await rm(folder, { recursive: true });
  },
);
