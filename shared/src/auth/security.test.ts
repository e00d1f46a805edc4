import { expect, test } from "bun:test";
import { cardSecurity, type SecurityFacts } from "./security.ts";

const required = (facts?: SecurityFacts) =>
  cardSecurity(facts).securityRequirements.map(({ schemes }) => Object.keys(schemes).sort());

test("any one credential is enough, and every one of them needs the certificate where connections do", () => {
  expect(required()).toEqual([["bearer"], ["apiKey"]]);
  expect(required({ issuer: "https://id.example" })).toEqual([["bearer"], ["apiKey"], ["openIdConnect"]]);
  expect(required({ clientCertificate: true })).toEqual([
    ["bearer", "mutualTls"],
    ["apiKey", "mutualTls"],
  ]);
  expect(required({ clientCertificate: true, tokens: false })).toEqual([["mutualTls"]]);
});

test("each scheme that is required is described, and an issuer by its configuration", () => {
  const facts = { issuer: "https://id.example/", clientCertificate: true };
  const { securitySchemes } = cardSecurity(facts);
  const described = Object.entries(securitySchemes).map(([name, { scheme }]) => [name, scheme?.$case, scheme?.value]);
  expect(described).toMatchObject([
    ["bearer", "httpAuthSecurityScheme", { scheme: "Bearer" }],
    ["apiKey", "apiKeySecurityScheme", { location: "header", name: "X-API-Key" }],
    ["openIdConnect", "openIdConnectSecurityScheme", {}],
    ["mutualTls", "mtlsSecurityScheme", {}],
  ]);
  expect(Object.keys(securitySchemes).sort()).toEqual([...new Set(required(facts).flat())].sort());
  const url = "https://id.example/.well-known/openid-configuration";
  expect(securitySchemes.openIdConnect?.scheme?.value).toMatchObject({ openIdConnectUrl: url });
});
