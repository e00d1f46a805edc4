import { afterAll, expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../../core/errors.ts";
import { createEgress } from "../../../machine/egress/egress.ts";
import { parseServers } from "../servers/read-servers.ts";
import { isProgram, type RemoteServer } from "../servers/server-config.ts";
import { createCredentialStore, credentialsFile } from "./credential-store.ts";
import { authorizeBy, signIn, widenScope } from "./sign-in.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-sign-in-"));
afterAll(() => rm(home, { recursive: true }));

/**
 * A server whose sign-in only its answer to a request without a token leads to. Refresh tokens work
 * once. `iss` is what comes back with a code, `status` how it answers (never, if undefined),
 * `named` where it says that its sign-in is described, `silent` a path at which it never answers.
 */
function startServer({
  scope,
  iss,
  named,
  silent,
  ...more
}: Partial<Record<"scope" | "iss" | "named" | "silent", string>> & { status?: number | undefined } = {}) {
  const { status } = { status: 401, ...more };
  const asked: URLSearchParams[] = [];
  const forms: URLSearchParams[] = [];
  const grant = () =>
    Response.json({ access_token: `t${forms.length}`, token_type: "Bearer", refresh_token: `r${forms.length}` });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { origin, pathname, searchParams } = new URL(request.url);
      if (pathname === silent) return new Promise<Response>(() => undefined);
      if (pathname === "/named-only")
        return Response.json({ resource: `${origin}/mcp`, authorization_servers: [`${origin}/as`] });
      if (pathname === "/.well-known/oauth-authorization-server/as")
        return Response.json({
          issuer: `${origin}/as`,
          authorization_endpoint: `${origin}/as/authorize`,
          token_endpoint: `${origin}/as/token`,
          registration_endpoint: `${origin}/as/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
          authorization_response_iss_parameter_supported: true,
        });
      if (pathname.endsWith("/register"))
        return Response.json({ ...((await request.json()) as object), client_id: "client" }, { status: 201 });
      if (pathname === "/as/authorize") {
        asked.push(searchParams);
        const back = new URL(searchParams.get("redirect_uri") ?? "");
        const answer = { code: "code", state: searchParams.get("state") ?? "", iss: iss ?? `${origin}/as` };
        for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value);
        return Response.redirect(back.href);
      }
      if (pathname === "/as/token") {
        const form = new URLSearchParams(await request.text());
        const isSpent = forms.some((one) => one.get("refresh_token") === form.get("refresh_token"));
        const isRefused = form.get("grant_type") === "refresh_token" && isSpent;
        forms.push(form);
        return isRefused ? Response.json({ error: "invalid_grant" }, { status: 400 }) : grant();
      }
      if (pathname !== "/mcp") return new Response(null, { status: 404 });
      if (status === undefined) return new Promise<Response>(() => undefined);
      const place = `resource_metadata="${named ?? `${origin}/named-only`}"`;
      const parameters = [place, ...(scope === undefined ? [] : [`scope="${scope}"`])];
      return new Response(null, { status, headers: { "www-authenticate": `Bearer ${parameters.join(", ")}` } });
    },
  });
  return { url: `${server.url.origin}/mcp`, asked, forms, [Symbol.dispose]: () => void server.stop(true) };
}

/** An entry for this address, with a store of its own that a principal signs in to. */
function entryFor(url: string, more: object = {}, principal = "local") {
  const [server] = parseServers(JSON.stringify({ mcpServers: { web: { url, ...more } } }), "mcp.json", {});
  if (server === undefined || isProgram(server)) throw new Error("There is no such server.");
  const store = createCredentialStore(credentialsFile(join(home, crypto.randomUUID())), principal);
  const egress = createEgress({ allow: [new URL(url).host], deny: [], only: [] });
  const deps = { principal, store, egress, proxy: undefined };
  const browse = (address: string): void => void fetch(address).catch(() => undefined);
  const enter = (signal = new AbortController().signal, show = browse) => signIn(server, deps, show, signal);
  return { server, store, deps, enter, refuse: () => refusal(authorizeBy(server, deps), server) };
}

/** What the transport does when the server refuses its token. */
async function refusal(provider: ReturnType<typeof authorizeBy>, server: RemoteServer) {
  const response = await fetch(server.url, { method: "POST" });
  await provider?.onUnauthorized?.({ response, serverUrl: new URL(server.url), fetchFn: fetch });
  return provider?.token();
}

const old = { access_token: "old", token_type: "Bearer" };

test("an entry with a header of its own for authorization needs no sign-in, with any other it does", () => {
  const provider = (headers: object) => {
    const { server, deps } = entryFor("http://127.0.0.1:1/mcp", { headers });
    return authorizeBy(server, deps);
  };
  expect([provider({ Authorization: "Basic x" }), provider({ a: "1", AUTHORIZATION: "x" })]).toEqual([
    undefined,
    undefined,
  ]);
  expect(provider({ "x-authorization": "x" })).toBeDefined();
});

test.each([
  ["local", "mcp login web`"],
  ["alice", "mcp login web --for alice`"],
])("whoever has not signed in, or only once, is told how: %s by %s", async (principal, told) => {
  using at = startServer();
  const { server, store, refuse } = entryFor(at.url, {}, principal);
  await expect(refuse()).rejects.toMatchObject({ code: "unauthorized", message: expect.stringContaining(told) });
  await store.write(server, { tokens: old });
  await expect(refuse()).rejects.toMatchObject({ code: "unauthorized", message: expect.stringContaining(told) });
  expect(at.forms).toEqual([]);
});

test("calls that are refused together renew the token once, and go on with the new one", async () => {
  using at = startServer();
  const { server, store, refuse } = entryFor(at.url);
  const client = { client_id: "client" };
  await store.write(server, { tokens: { ...old, refresh_token: "r0", scope: "a" }, client });
  expect(await Promise.all([refuse(), refuse(), refuse()])).toEqual(["t1", "t1", "t1"]);
  expect(at.forms.map((form) => [form.get("grant_type"), form.get("refresh_token")])).toEqual([
    ["refresh_token", "r0"],
  ]);
  expect(await store.read(server)).toMatchObject({ tokens: { refresh_token: "r1", scope: "a" }, client });
  expect(await refuse()).toBe("t2");
});

test("a person whose token can no longer be renewed is told to sign in again, and directed nowhere", async () => {
  using at = startServer();
  const { server, store, refuse } = entryFor(at.url);
  await store.write(server, { tokens: { ...old, refresh_token: "r0" }, client: { client_id: "client" } });
  at.forms.push(new URLSearchParams({ refresh_token: "r0" }));
  await expect(refuse()).rejects.toMatchObject({
    code: "unauthorized",
    message: expect.stringContaining("mcp login web`"),
  });
  expect(at.asked).toEqual([]);
});

test.each<[string, { server?: string; entry?: string; granted?: string; wanted?: string }, string[]]>([
  ["nobody names a scope", {}, []],
  ["the server names one", { server: "a b" }, ["a", "b"]],
  ["the entry does too", { server: "a b", entry: "c" }, ["c"]],
  ["one was granted before", { server: "a", granted: "d a" }, ["a", "d"]],
  ["a call wanted more", { entry: "c", granted: "d", wanted: "e" }, ["c", "d", "e"]],
])("a sign-in asks for all that is needed when %s", async (_, { server: scope, entry, granted, wanted }, expected) => {
  using at = startServer({ ...(scope !== undefined && { scope }) });
  const { server, store, enter } = entryFor(at.url, { oauth: { ...(entry !== undefined && { scope: entry }) } });
  const tokens = { ...old, refresh_token: "r0", ...(granted !== undefined && { scope: granted }) };
  await store.write(server, { tokens, ...(wanted !== undefined && { wanted }) });
  await enter();
  const words = (text: string | null | undefined) => (text ?? "").split(" ").filter(Boolean).toSorted();
  expect(at.asked.map((one) => words(one.get("scope")))).toEqual([expected]);
  expect(at.forms.map((form) => form.get("grant_type"))).toEqual(["authorization_code"]);
  const left = await store.read(server);
  expect([left?.tokens?.access_token, words(left?.tokens?.scope), left?.wanted]).toEqual(["t1", expected, undefined]);
});

test("a code that comes back from another authorization server is not redeemed", async () => {
  using at = startServer({ iss: "https://other.example" });
  const { server, store, enter } = entryFor(at.url);
  await expect(enter()).rejects.toMatchObject({ message: expect.stringMatching(/^The MCP server web: /) });
  expect([at.asked.length, at.forms, await store.read(server)]).toEqual([1, [], undefined]);
});

/** Why a sign-in ended. Awaited rather than expected, so that one without an end fails its test. */
const reasonOf = (going: Promise<void>) =>
  going.then(
    () => "it ended well",
    ({ message }) => message,
  );

test("a server that wants no sign-in is not believed what it says of one", async () => {
  using at = startServer({ scope: "everything", status: 403 });
  const control = new AbortController();
  const shown: string[] = [];
  const giveUp = (address: string) => {
    shown.push(address);
    control.abort(new Error("enough"));
  };
  expect(await reasonOf(entryFor(at.url).enter(control.signal, giveUp))).toBe("enough");
  expect(shown.filter((address) => address.includes("everything"))).toEqual([]);
});

test("nobody is sent anywhere by a server that names a place out of bounds", async () => {
  using at = startServer({ named: "http://169.254.169.254/latest/meta-data" });
  const shown: string[] = [];
  const going = entryFor(at.url).enter(undefined, (address) => shown.push(address));
  await expect(going).rejects.toThrow(
    "The MCP server web: The host 169.254.169.254 is at an address that is not public",
  );
  expect(shown).toEqual([]);
});

test("a sign-in that its caller gives up ends with the caller's reason", async () => {
  using at = startServer();
  const control = new AbortController();
  const giveUp = () => control.abort(new Error("enough"));
  expect(await reasonOf(entryFor(at.url).enter(control.signal, giveUp))).toBe("enough");
  const later = new AbortController();
  const waiting = entryFor(at.url).enter(later.signal, () => void setTimeout(() => later.abort(new Error("enough"))));
  expect(await reasonOf(waiting)).toBe("enough");
  using silent = startServer({ status: undefined });
  const soon = AbortSignal.timeout(20);
  expect(await reasonOf(entryFor(silent.url).enter(soon))).toBe(soon.reason.message);
});

test("a scope that a call lacked is added to those wanted, up to a length, and the tokens stay", async () => {
  const { server, store } = entryFor("http://127.0.0.1:1/mcp");
  await widenScope(server, "a", store);
  expect(await store.read(server)).toEqual({ wanted: "a" });
  await store.write(server, { tokens: old, wanted: "a" });
  await widenScope(server, "b", store);
  const widened = await store.read(server);
  expect([widened?.tokens, widened?.wanted?.split(" ").toSorted()]).toEqual([old, ["a", "b"]]);
  await widenScope(server, "x".repeat(5_000), store);
  expect((await store.read(server))?.wanted).toHaveLength(2_000);
});

test("a renewal reaches what its server names only through the policy", async () => {
  const asked: string[] = [];
  const named = "http://169.254.169.254/latest/meta-data";
  using at = startServer({ named });
  const { server, store, deps } = entryFor(at.url);
  await store.write(server, { tokens: { ...old, refresh_token: "r0" }, client: { client_id: "client" } });
  const egress = {
    ...deps.egress,
    fetch: async ({ url }: { url: URL }) => {
      asked.push(url.href);
      throw new AppError("forbidden", "not public");
    },
  };
  await refusal(authorizeBy(server, { ...deps, egress } as typeof deps), server).catch(() => undefined);
  expect(asked).toContain(named);
});

test("nobody is waited for longer than five minutes", async () => {
  using at = startServer();
  const control = new AbortController();
  const times: number[] = [];
  const timeout = spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
    times.push(ms);
    return control.signal;
  });
  try {
    const going = entryFor(at.url).enter(undefined, () => void setTimeout(() => control.abort(new Error("over"))));
    await expect(going).rejects.toMatchObject({
      code: "timeout",
      message: expect.stringContaining("nobody signed in within five minutes"),
    });
  } finally {
    timeout.mockRestore();
  }
  expect(times[0]).toBe(300_000);
});

test.each(["/named-only", "/as/register", "/as/token"])(
  "a server that never answers at %s keeps nobody: neither one who leaves, nor longer than twenty seconds",
  async (silent) => {
    using at = startServer({ silent });
    const leaving = new AbortController();
    const entry = entryFor(at.url);
    const left = entry.enter(leaving.signal).catch((error: unknown) => error);
    await Bun.sleep(200);
    leaving.abort(new Error("left"));
    expect(await left).toBe(leaving.signal.reason);
    const { timeout } = AbortSignal;
    const passed = (ms: number) => timeout.call(AbortSignal, ms === 20_000 ? 300 : ms);
    using _ = spyOn(AbortSignal, "timeout").mockImplementation(passed);
    await expect(entry.enter()).rejects.toMatchObject({
      code: "timeout",
      message: expect.stringContaining("did not answer within 20 s"),
    });
    await entry.store.write(entry.server, { tokens: { ...old, refresh_token: "r0" }, client: { client_id: "client" } });
    if (silent !== "/as/register") await expect(entry.refuse()).rejects.toMatchObject({ code: "timeout" });
  },
);
