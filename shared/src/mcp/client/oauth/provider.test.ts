import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseServers } from "../servers/read-servers.ts";
import { isProgram } from "../servers/server-config.ts";
import { createCredentialStore, credentialsFile } from "./credential-store.ts";
import { createProvider } from "./provider.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-provider-"));
afterAll(() => rm(home, { recursive: true }));

const callback = "http://127.0.0.1:5/callback";

/**
 * A server whose entry has this for signing in, with its own store; `signsIn` if a person is there.
 */
function providerOf(oauth: object = {}, { signsIn = true, scope }: { signsIn?: boolean; scope?: string } = {}) {
  const entry = { mcpServers: { s: { url: "https://s.example", oauth } } };
  const [server] = parseServers(JSON.stringify(entry), "mcp.json", {});
  if (server === undefined || isProgram(server)) throw new Error("There is no such server.");
  const store = createCredentialStore(credentialsFile(join(home, crypto.randomUUID())));
  const shown: string[] = [];
  const redirectUrl = signsIn ? callback : undefined;
  const options = { redirectUrl, ...(scope !== undefined && { scope }), show: (url: string) => void shown.push(url) };
  return { server, store, shown, provider: createProvider(server, store, options) };
}

test.each([
  ["https://signs.example/authorize?client_id=a&scope=b%20c", true],
  ["http://127.0.0.1:8080/authorize", true],
  ["http://localhost/authorize", true],
  ["http://[::1]/authorize", true],
  ["http://signs.example/authorize", false],
  ["http://127.0.0.1.evil.example/authorize", false],
  ["ftp://127.0.0.1/authorize", false],
  ["file:///etc/passwd", false],
  ["javascript:alert(1)", false],
  ["https://user@signs.example/authorize", false],
  ["https://user:secret@signs.example/authorize", false],
  ["https://signs.example/authorize?a=$(reboot)", false],
  ["https://signs.example/authorize?a=1;reboot", false],
  ["https://signs.example/'authorize'", false],
])("whoever signs in is sent to %s: %p", async (address, fits) => {
  const { provider, shown } = providerOf();
  const go = async () => provider.redirectToAuthorization(new URL(address));
  if (fits) await go();
  else await expect(go()).rejects.toMatchObject({ code: "forbidden" });
  expect(shown).toEqual(fits ? [address] : []);
});

test("an address that is not fit as the server sent it stays so, however it is written later", async () => {
  const { provider, shown } = providerOf();
  const authorization_endpoint = "https://signs.example/`reboot`";
  await provider.saveDiscoveryState?.({ authorizationServerMetadata: { authorization_endpoint } } as never);
  const go = async () => provider.redirectToAuthorization(new URL(authorization_endpoint));
  await expect(go()).rejects.toMatchObject({ code: "forbidden" });
  expect(shown).toEqual([]);
});

test("the client is that of the entry, or one that registers anew for each sign-in and is kept with its tokens", async () => {
  const named = providerOf({ clientId: "ours", clientSecret: "secret", scope: "a" }).provider;
  expect(await named.clientInformation()).toEqual({ client_id: "ours", client_secret: "secret" });
  expect(named.clientMetadata).toMatchObject({
    redirect_uris: [callback],
    scope: "a",
    // It keeps no secret.
    token_endpoint_auth_method: "none",
  });
  expect(await providerOf({ clientId: "ours" }).provider.clientInformation()).toEqual({ client_id: "ours" });
  const described = providerOf({ clientId: "https://us.example/client.json" }).provider;
  expect(described.clientMetadataUrl).toBe("https://us.example/client.json");
  expect(await described.clientInformation()).toBeUndefined();
  const { server, store, provider } = providerOf();
  await store.write(server, { client: { client_id: "before" } });
  expect(await provider.clientInformation()).toBeUndefined();
  await provider.saveClientInformation?.({ client_id: "now" });
  expect(await provider.clientInformation()).toEqual({ client_id: "now" });
  await provider.saveTokens({ access_token: "t", token_type: "bearer" });
  const renewing = createProvider(server, store, { redirectUrl: undefined, show: () => undefined });
  expect(await renewing.clientInformation()).toMatchObject({ client_id: "now" });
  expect([await provider.tokens(), await renewing.tokens()]).toEqual([
    undefined,
    { access_token: "t", token_type: "bearer" },
  ]);
  await renewing.saveTokens({ access_token: "t2", token_type: "bearer" });
  expect((await store.read(server))?.client).toEqual({ client_id: "now" });
});

test.each<[string | undefined, string | undefined, string | undefined, string | undefined]>([
  ["granted", "asked", "before", "granted"],
  [undefined, "asked", "before", "asked"],
  [undefined, undefined, "before", "before"],
  [undefined, undefined, undefined, undefined],
])(
  "of a token with the scope %p, for which %p was asked, after %p the scope is %p",
  async (given, asked, was, kept) => {
    const { server, store, provider } = providerOf({}, asked === undefined ? {} : { scope: asked });
    const token = { access_token: "t", token_type: "bearer" };
    if (was !== undefined) await store.write(server, { tokens: { ...token, scope: was } });
    await provider.saveTokens({ ...token, ...(given !== undefined && { scope: given }) });
    expect((await store.read(server))?.tokens?.scope).toBe(kept as string);
  },
);

test("tokens that are no longer accepted are forgotten, but not for a sign-in under way, nor with the verifier", async () => {
  const tokens = { access_token: "t", token_type: "bearer" };
  for (const [signsIn, what, isKept] of [
    [false, "all", false],
    [false, "tokens", false],
    [false, "verifier", true],
    [true, "all", true],
  ] as const) {
    const { server, store, provider } = providerOf({}, { signsIn });
    await store.write(server, { tokens });
    await provider.invalidateCredentials?.(what);
    expect([signsIn, what, (await store.read(server)) !== undefined]).toEqual([signsIn, what, isKept]);
  }
});

test("each attempt has a state of its own", () => {
  const { provider } = providerOf();
  expect(provider.state?.()).toBe(provider.expectedState());
  expect(providerOf().provider.expectedState()).not.toBe(provider.expectedState());
});
