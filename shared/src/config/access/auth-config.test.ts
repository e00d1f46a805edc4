import { expect, test } from "bun:test";
import { quotaConfig } from "../quota-config.ts";
import { authSection } from "../sections/auth-section.ts";
import { type Sections, sectionsSchema } from "../sections/sections.ts";
import type { Settings } from "../settings/settings.ts";
import { authConfig } from "./auth-config.ts";

const settingsOf = (sections: object) =>
  ({ sections: sectionsSchema.parse(sections), file: "m.toml", origins: new Map() }) as unknown as Settings;

/** What the section says, read in the folder `/home`, of a server with this token. */
const read = (section: object, token: string | undefined = "a-long-secret") =>
  authConfig(settingsOf({ auth: section, server: { token } }), "/home");
const refused = (section: object, token?: string) => {
  try {
    return read(section, token);
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
};

const issuer = "https://id.example";
const jwks = `${issuer}/jwks`;
const jwt = { issuer, audience: "a", jwks };
const oidc = { issuer, client_id: "console" };

test("what is left out of the settings has its default", () => {
  expect(read({})).toEqual({});
  expect(read({ jwt })).toStrictEqual({
    jwt: { keys: { url: jwks }, issuer, audience: "a", principalClaim: "sub", scopesClaim: "scope", scopePrefix: "" },
  });
  expect(read({ oidc })).toStrictEqual({
    oidc: {
      issuer,
      clientId: "console",
      clientSecret: undefined,
      principalClaim: "sub",
      scopesClaim: undefined,
      scopes: [],
      sessionMs: 43_200_000,
    },
  });
});

test("each setting arrives where it is used, and a path is taken from the folder of the settings", () => {
  const claims = { principal_claim: "email", scopes_claim: "roles" };
  const { jwks: _, ...keyless } = jwt;
  const named = read({
    jwt: { ...keyless, jwks_file: "keys.json", ...claims, scope_prefix: "m:" },
    oidc: { ...oidc, client_secret_file: "secret.txt", ...claims, scopes: ["groups"], session_hours: 0.5 },
  });
  const mapped = { principalClaim: "email", scopesClaim: "roles" };
  expect(named).toStrictEqual({
    jwt: { keys: { file: "/home/keys.json" }, issuer, audience: "a", ...mapped, scopePrefix: "m:" },
    oidc: {
      ...{ issuer, clientId: "console", clientSecret: { file: "/home/secret.txt" }, ...mapped },
      ...{ scopes: ["groups"], sessionMs: 1_800_000 },
    },
  });
  expect(read({ oidc: { ...oidc, client_secret: "s" } }).oidc?.clientSecret).toEqual({ text: "s" });
});

const without = (section: Record<string, string>, key: string) =>
  Object.fromEntries(Object.entries(section).filter(([name]) => name !== key));

test.each<[string, object]>([
  ["jwt", { jwt: without(jwt, "issuer") }],
  ["jwt", { jwt: without(jwt, "audience") }],
  ["jwt", { jwt: without(jwt, "jwks") }],
  ["jwt", { jwt: { ...jwt, jwks_file: "keys.json" } }],
  ["jwt", { jwt: { jwks } }],
  ["jwt", { jwt: { jwks_file: "keys.json" } }],
  ["jwt", { jwt: { audience: "a" } }],
  ["oidc", { oidc: { issuer } }],
  ["oidc", { oidc: { client_id: "console" } }],
  ["oidc", { oidc: { client_secret: "s" } }],
  ["oidc", { oidc: { client_secret_file: "s" } }],
  ["oidc", { oidc: { ...oidc, client_secret: "s", client_secret_file: "s" } }],
])("[auth.%s] that is half filled in is refused: %j", (name, section) => {
  expect(refused(section)).toStartWith(`m.toml: [auth.${name}] needs issuer`);
});

test.each<[string, object]>([
  ["jwt", { jwt }],
  ["oidc", { oidc }],
  ["jwt", { jwt, oidc }],
])("[auth.%s] without a token is refused, since everybody would be let in: %j", (name, section) => {
  // Certificates of clients do not stand in for it.
  for (const tls of [{}, { client_ca: "ca.pem" }])
    expect(() => authConfig(settingsOf({ auth: section, server: { tls } }), "/home")).toThrow(
      `[auth.${name}] is set, but no token`,
    );
});

test.each([
  ["https://id.example/jwks", true],
  ["http://127.0.0.1:1/jwks", true],
  ["http://id.example/jwks", false],
  ["file:///keys.json", false],
])("keys may come from %s: %p", (url, allowed) => {
  expect(authSection.safeParse({ jwt: { ...jwt, jwks: url } }).success).toBe(allowed);
  expect(authSection.safeParse({ oidc: { ...oidc, issuer: url } }).success).toBe(allowed);
});

test("a quota has only the limits that are set, so that one that is left out does not lift everybody's", () => {
  const all = { requests_per_minute: 1, runs_at_once: 2, tokens_per_day: 3, usd_per_day: 4 };
  const limits = {
    principal: all,
    principals: { alice: { usd_per_day: 0 }, bob: {} },
  } as unknown as Sections["limits"];
  expect(quotaConfig(limits)).toStrictEqual({
    everybody: { requestsPerMinute: 1, runsAtOnce: 2, tokensPerDay: 3, usdPerDay: 4 },
    named: { alice: { usdPerDay: 0 }, bob: {} },
  });
});
