import { expect, test } from "bun:test";
import type { AgentCard, SecurityScheme } from "@a2a-js/sdk";
import type { Credentials } from "./credentials.ts";
import { missingCredentials } from "./wanted-credentials.ts";

type Scheme = NonNullable<SecurityScheme["scheme"]>;

const schemes: Readonly<Record<string, Scheme>> = {
  bearer: { $case: "httpAuthSecurityScheme", value: { scheme: "Bearer", bearerFormat: "", description: "" } },
  basic: { $case: "httpAuthSecurityScheme", value: { scheme: "Basic", bearerFormat: "", description: "" } },
  key: { $case: "apiKeySecurityScheme", value: { location: "header", name: "X-Key", description: "" } },
  authorization: {
    $case: "apiKeySecurityScheme",
    value: { location: "header", name: "Authorization", description: "" },
  },
  openId: { $case: "openIdConnectSecurityScheme", value: { openIdConnectUrl: "https://id.example", description: "" } },
  oauth: { $case: "oauth2SecurityScheme", value: { flows: undefined, description: "", oauth2MetadataUrl: "" } },
  certificate: { $case: "mtlsSecurityScheme", value: { description: "" } },
};

/** A card with these alternatives, each a list of schemes that are all required. */
function cardOf(...alternatives: readonly (readonly string[])[]): AgentCard {
  return {
    securitySchemes: Object.fromEntries(Object.entries(schemes).map(([name, scheme]) => [name, { scheme }])),
    securityRequirements: alternatives.map((names) => ({
      schemes: Object.fromEntries(names.map((name) => [name, { list: [] }])),
    })),
  } as unknown as AgentCard;
}

const given = {
  nothing: undefined,
  token: { identity: { kind: "bearer", token: { text: "t" } } },
  "a fetched token": { identity: { kind: "oauth", tokenUrl: "https://id.example", scopes: [] } },
  "an exchanged token": { identity: { kind: "token_exchange", tokenUrl: "https://id.example", scopes: [] } },
  "the key": { identity: { kind: "api_key", header: "x-key", key: { text: "k" } } },
  "another key": { identity: { kind: "api_key", header: "X-Other", key: { text: "k" } } },
  "a header": { identity: { kind: "api_key", header: "Authorization", key: { text: "Basic x" } } },
  "a certificate": { tls: { cert: "c.pem", key: "k.pem" } },
  "an authority": { tls: { ca: "ca.pem" } },
  "half a certificate": { tls: { cert: "c.pem" } },
  "the other half": { tls: { key: "k.pem" } },
} as unknown as Readonly<Record<string, Credentials | undefined>>;

const tokens = ["token", "a fetched token", "an exchanged token"];

/** Which of the credentials are enough for each scheme alone. */
test.each([
  ["bearer", [...tokens, "a header"]],
  ["basic", [...tokens, "a header"]],
  ["key", ["the key"]],
  ["authorization", [...tokens, "a header"]],
  ["openId", tokens],
  ["oauth", tokens],
  ["certificate", ["a certificate"]],
  ["a scheme that is not described", Object.keys(given).filter((name) => name !== "nothing")],
])("%s is given by %j and by nothing else", (scheme, enough) => {
  const card = cardOf([scheme]);
  const found = Object.entries(given).filter(([, one]) => missingCredentials(card, one) === undefined);
  expect(found.map(([name]) => name).sort()).toEqual([...enough].sort());
});

test("one whole alternative is enough, a part of each is not, and a card may require nothing", () => {
  const card = cardOf(["bearer", "certificate"], ["key"]);
  expect(missingCredentials(card, given["the key"])).toBeUndefined();
  expect(missingCredentials(card, { ...given.token, ...given["a certificate"] })).toBeUndefined();
  expect(missingCredentials(card, given.token)).toStartWith(
    "It requires a client certificate, or an API key (header X-Key), which is not configured here.",
  );
  expect(missingCredentials(cardOf(), undefined)).toBeUndefined();
});

test.each([
  [{ scheme: "Bearer" }, "a bearer token", 'kind = "bearer"'],
  [{ scheme: "bEARER" }, "a bearer token", 'kind = "bearer"'],
  [{ scheme: "Ba sic\n" }, "HTTP Basic", 'kind = "api_key" with header = "Authorization"'],
  [{ scheme: "x".repeat(99) }, `HTTP ${"x".repeat(60)}`, 'kind = "api_key" with header = "Authorization"'],
  [{ scheme: "(((" }, "HTTP ?", 'kind = "api_key" with header = "Authorization"'],
  [schemes.key, "an API key (header X-Key)", 'kind = "api_key" with header = "X-Key"'],
  [schemes.openId, "an OpenID Connect token", 'kind = "oauth" (or "token_exchange", or "bearer")'],
  [schemes.oauth, "an OAuth token", 'kind = "oauth" (or "token_exchange", or "bearer")'],
  [schemes.certificate, "a client certificate", "cert and key"],
])("of a scheme it is said what it wants and which setting gives that: %#", (scheme, words, setting) => {
  const described = scheme && "scheme" in scheme ? { $case: "httpAuthSecurityScheme", value: scheme } : scheme;
  const card = { ...cardOf(["it"]), securitySchemes: { it: { scheme: described } } } as unknown as AgentCard;
  expect(missingCredentials(card, undefined)).toBe(
    `It requires ${words}, which is not configured here. Set ${setting} in [agents.NAME.auth] or [peers.NAME.auth].`,
  );
});
