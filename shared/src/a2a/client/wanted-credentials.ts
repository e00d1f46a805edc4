import type { AgentCard, SecurityScheme } from "@a2a-js/sdk";
import type { Credentials } from "./credentials.ts";

/**
 * What an agent's card demands of its callers that these credentials do not give, and which setting
 * would; undefined if nothing is missing. A scheme that the card names but does not describe counts
 * as given if there are any credentials.
 */
export function missingCredentials(
  { securityRequirements, securitySchemes }: AgentCard,
  credentials: Credentials | undefined,
): string | undefined {
  const alternatives = securityRequirements.map(({ schemes }) =>
    Object.keys(schemes)
      .map((name) => wantOf(securitySchemes[name]))
      .filter((want) => !want.isGiven(credentials)),
  );
  if (alternatives.length === 0 || alternatives.some((missing) => missing.length === 0)) return undefined;
  const wanted = alternatives.map((missing) => missing.map(({ words }) => words).join(" and ")).join(", or ");
  const settings = alternatives.map((missing) => missing.map(({ setting }) => setting).join(" and ")).join(", or ");
  return `It requires ${wanted}, which is not configured here. Set ${settings} in [agents.NAME.auth] or [peers.NAME.auth].`;
}

type Want = {
  readonly words: string;
  readonly setting: string;
  isGiven(credentials: Credentials | undefined): boolean;
};

const isToken = (credentials: Credentials | undefined) =>
  credentials?.identity !== undefined && credentials.identity.kind !== "api_key";
const hasHeader = (credentials: Credentials | undefined, name: string) =>
  credentials?.identity?.kind === "api_key" && credentials.identity.header.toLowerCase() === name.toLowerCase();

function wantOf(described: SecurityScheme | undefined): Want {
  const { scheme } = described ?? {};
  switch (scheme?.$case) {
    case "httpAuthSecurityScheme":
      return {
        words: scheme.value.scheme.toLowerCase() === "bearer" ? "a bearer token" : `HTTP ${word(scheme.value.scheme)}`,
        setting:
          scheme.value.scheme.toLowerCase() === "bearer"
            ? 'kind = "bearer"'
            : 'kind = "api_key" with header = "Authorization"',
        isGiven: (one) => isToken(one) || hasHeader(one, "Authorization"),
      };
    case "apiKeySecurityScheme": {
      const { name, location } = scheme.value;
      return {
        words: `an API key (${word(location)} ${word(name)})`,
        setting: `kind = "api_key" with header = "${word(name)}"`,
        isGiven: (one) => hasHeader(one, name) || (isToken(one) && name.toLowerCase() === "authorization"),
      };
    }
    case "oauth2SecurityScheme":
    case "openIdConnectSecurityScheme":
      return {
        words: scheme.$case === "oauth2SecurityScheme" ? "an OAuth token" : "an OpenID Connect token",
        setting: 'kind = "oauth" (or "token_exchange", or "bearer")',
        isGiven: isToken,
      };
    case "mtlsSecurityScheme":
      return {
        words: "a client certificate",
        setting: "cert and key",
        isGiven: (one) => one?.tls?.cert !== undefined && one.tls.key !== undefined,
      };
    default:
      return { words: "credentials", setting: "kind", isGiven: (one) => one !== undefined };
  }
}

/** A word of a card, which may contain anything. */
function word(text: string): string {
  return text.replace(/[^\w.-]/g, "").slice(0, 60) || "?";
}
