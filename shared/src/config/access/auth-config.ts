import { resolve } from "node:path";
import type { JwtConfig } from "../../auth/jwt.ts";
import type { OidcConfig } from "../../auth/oidc.ts";
import type { Sections } from "../sections/sections.ts";
import type { Settings } from "../settings/settings.ts";
import { faultAt } from "../settings/settings-error.ts";

/** Who is let in besides the holders of tokens. Paths are absolute. */
export type AuthConfig = {
  /** JWTs of this issuer are accepted. */
  readonly jwt?: JwtConfig;
  /** People sign in to the console at this issuer. */
  readonly oidc?: OidcConfig;
};

/** Throws `config_invalid` for a section that is half filled in, or that would have no effect. */
export function authConfig(settings: Settings, cwd: string): AuthConfig {
  const { auth, server } = settings.sections;
  const [jwt, oidc] = [jwtConfig(auth.jwt, settings, cwd), oidcConfig(auth.oidc, settings, cwd)];
  if ((jwt ?? oidc) !== undefined && server.token === undefined)
    throw faultAt(
      settings,
      ["auth"],
      `[auth.${jwt === undefined ? "oidc" : "jwt"}] is set, but no token, so everybody would be let in. Set MANYHANDS_TOKEN (or [server] token), which you and the servers among themselves use.`,
    );
  return { ...(jwt && { jwt }), ...(oidc && { oidc }) };
}

function jwtConfig(jwt: Sections["auth"]["jwt"], settings: Settings, cwd: string): JwtConfig | undefined {
  const { jwks, jwks_file: file, issuer, audience, ...claims } = jwt;
  if ([jwks, file, issuer, audience].every((one) => one === undefined)) return undefined;
  if (issuer === undefined || audience === undefined || (jwks === undefined) === (file === undefined))
    throw faultAt(
      settings,
      ["auth", "jwt"],
      "[auth.jwt] needs issuer, audience, and either jwks (a URL) or jwks_file.",
    );
  return {
    keys: jwks === undefined ? { file: resolve(cwd, file ?? "") } : { url: jwks },
    issuer,
    audience,
    principalClaim: claims.principal_claim,
    scopesClaim: claims.scopes_claim,
    scopePrefix: claims.scope_prefix ?? "",
  };
}

function oidcConfig(oidc: Sections["auth"]["oidc"], settings: Settings, cwd: string): OidcConfig | undefined {
  const { issuer, client_id: clientId, client_secret: text, client_secret_file: file } = oidc;
  if ([issuer, clientId, text, file].every((one) => one === undefined)) return undefined;
  if (issuer === undefined || clientId === undefined || (text !== undefined && file !== undefined))
    throw faultAt(settings, ["auth", "oidc"], "[auth.oidc] needs issuer and client_id, and one client_secret at most.");
  const named = file === undefined ? undefined : { file: resolve(cwd, file) };
  return {
    issuer,
    clientId,
    clientSecret: text === undefined ? named : { text },
    principalClaim: oidc.principal_claim,
    scopesClaim: oidc.scopes_claim,
    scopes: oidc.scopes,
    sessionMs: oidc.session_hours * 3_600_000,
  };
}
