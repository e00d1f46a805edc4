import type { AgentCard, SecurityScheme } from "@a2a-js/sdk";
import { withoutLastSlashes } from "../core/text/without-last-slashes.ts";

type Scheme = NonNullable<SecurityScheme["scheme"]>;

/** How a server authenticates its callers. */
export type SecurityFacts = {
  /** Whether it has tokens; it does if left out. */
  readonly tokens?: boolean;
  /** The issuer whose JWTs are accepted. */
  readonly issuer?: string | undefined;
  /** Whether connections need a client certificate. */
  readonly clientCertificate?: boolean;
};

/**
 * How a card asks for credentials (A2A 1.0 section 4.5): any one of the schemes is enough, together
 * with a client certificate where connections need one.
 */
export function cardSecurity({
  tokens = true,
  issuer,
  clientCertificate = false,
}: SecurityFacts = {}): Pick<AgentCard, "securitySchemes" | "securityRequirements"> {
  const alternatives = tokens ? tokenSchemes(issuer) : {};
  const mutual: Readonly<Record<string, Scheme>> = clientCertificate ? { mutualTls } : {};
  const always = Object.fromEntries(Object.keys(mutual).map((name) => [name, { list: [] }]));
  const any = tokens ? Object.keys(alternatives).map((name) => ({ ...always, [name]: { list: [] } })) : [always];
  return {
    securitySchemes: Object.fromEntries(
      Object.entries({ ...alternatives, ...mutual }).map(([name, scheme]) => [name, { scheme }]),
    ),
    securityRequirements: any.map((schemes) => ({ schemes })),
  };
}

const mutualTls: Scheme = { $case: "mtlsSecurityScheme", value: { description: "A client certificate." } };

function tokenSchemes(issuer: string | undefined): Readonly<Record<string, Scheme>> {
  return {
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
}

function openIdConnect(issuer: string): Scheme {
  const openIdConnectUrl = `${withoutLastSlashes(issuer)}/.well-known/openid-configuration`;
  return { $case: "openIdConnectSecurityScheme", value: { openIdConnectUrl, description: "A JWT of this issuer." } };
}
