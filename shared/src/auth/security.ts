import type { AgentCard, SecurityScheme } from "@a2a-js/sdk";

type Scheme = NonNullable<SecurityScheme["scheme"]>;

/**
 * How a card asks for credentials (A2A 1.0 section 4.5): any one of the schemes is enough. `issuer`
 * is the one whose JWTs are accepted.
 */
export function cardSecurity(issuer?: string): Pick<AgentCard, "securitySchemes" | "securityRequirements"> {
  const schemes: Readonly<Record<string, Scheme>> = {
    bearer: {
      $case: "httpAuthSecurityScheme",
      value: { scheme: "Bearer", bearerFormat: "", description: "A token of this server." },
    },
    apiKey: {
      $case: "apiKeySecurityScheme",
      value: { location: "header", name: "X-API-Key", description: "The same token as an API key." },
    },
    ...(issuer !== undefined && { openIdConnect: openIdConnect(issuer) }),
  };
  return {
    securitySchemes: Object.fromEntries(Object.entries(schemes).map(([name, scheme]) => [name, { scheme }])),
    securityRequirements: Object.keys(schemes).map((name) => ({ schemes: { [name]: { list: [] } } })),
  };
}

function openIdConnect(issuer: string): Scheme {
  const openIdConnectUrl = `${issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`;
  return { $case: "openIdConnectSecurityScheme", value: { openIdConnectUrl, description: "A JWT of this issuer." } };
}
