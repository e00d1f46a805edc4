import type { AgentCard, SecurityScheme } from "@a2a-js/sdk";

/** How a server authenticates its callers, for its card. */
export type SecurityFacts = {
  /** The issuer of accepted JWTs. */
  readonly issuer?: string | undefined;
  /** Whether connections need a client certificate. */
  readonly clientCertificate?: boolean;
};

type Scheme = NonNullable<SecurityScheme["scheme"]>;

/** How a card asks for credentials (A2A 1.0 section 4.5): any one of the schemes is enough. */
export function cardSecurity({
  issuer,
  clientCertificate = false,
}: SecurityFacts): Pick<AgentCard, "securitySchemes" | "securityRequirements"> {
  const header = { $case: "httpAuthSecurityScheme" as const };
  const bearer: Scheme = {
    ...header,
    value: { scheme: "Bearer", bearerFormat: "", description: "A token of this server." },
  };
  const apiKey: Scheme = {
    $case: "apiKeySecurityScheme",
    value: { location: "header", name: "X-API-Key", description: "The same token as an API key." },
  };
  const schemes: Record<string, Scheme> = { bearer, apiKey };
  if (issuer !== undefined) schemes.openIdConnect = openIdConnect(issuer);
  const any = Object.keys(schemes);
  if (clientCertificate)
    schemes.mutualTls = { $case: "mtlsSecurityScheme", value: { description: "A client certificate." } };
  const always = clientCertificate ? { mutualTls: { list: [] } } : {};
  return {
    securitySchemes: Object.fromEntries(Object.entries(schemes).map(([name, scheme]) => [name, { scheme }])),
    securityRequirements: any.map((name) => ({ schemes: { ...always, [name]: { list: [] } } })),
  };
}

function openIdConnect(issuer: string): Scheme {
  const openIdConnectUrl = `${issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`;
  return { $case: "openIdConnectSecurityScheme", value: { openIdConnectUrl, description: "A JWT of this issuer." } };
}
