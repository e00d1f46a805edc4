import { resolve } from "node:path";
import type { JwtConfig } from "../auth/jwt.ts";
import type { Scope } from "../core/caller.ts";
import { AppError } from "../core/errors.ts";
import type { Sections } from "./sections.ts";

/** Who is let in besides the holders of tokens. Paths are absolute. */
export type AuthConfig = {
  /** JWTs of this issuer are accepted. */
  readonly jwt?: JwtConfig;
  /** People sign in to the console at this issuer. */
  readonly oidc?: {
    readonly issuer: string;
    readonly clientId: string;
    readonly clientSecret?: string;
    readonly principalClaim: string;
    readonly scopes: readonly Scope[];
    readonly sessionMs: number;
  };
};

/** The files of a server's certificate, and of the authority whose clients alone may connect. */
export type TlsConfig = { readonly cert: string; readonly key: string; readonly clientCa?: string };

/** Throws `config_invalid` for a section that is half filled in. */
export function authConfig({ auth, server }: Pick<Sections, "auth" | "server">, cwd: string): AuthConfig {
  const jwt = jwtConfig(auth.jwt, cwd);
  const oidc = oidcConfig(auth.oidc);
  if ((jwt ?? oidc) !== undefined && server.token === undefined)
    throw new AppError(
      "config_invalid",
      `[auth.${jwt === undefined ? "oidc" : "jwt"}] is set, but no token, so everybody is let in. Set MANYHANDS_TOKEN (or [server] token): you and the servers among themselves use it.`,
    );
  return { ...(jwt && { jwt }), ...(oidc && { oidc }) };
}

/** Throws `config_invalid` for a certificate without its key, or the other way round. */
export function tlsConfig({ tls }: Sections["server"], cwd: string): TlsConfig | undefined {
  const { cert, key, client_ca: clientCa } = tls;
  if (cert === undefined && key === undefined && clientCa === undefined) return undefined;
  if (cert === undefined || key === undefined)
    throw new AppError("config_invalid", "[server.tls] needs both cert and key, the paths of PEM files.");
  return {
    cert: resolve(cwd, cert),
    key: resolve(cwd, key),
    ...(clientCa !== undefined && { clientCa: resolve(cwd, clientCa) }),
  };
}

function jwtConfig(jwt: Sections["auth"]["jwt"], cwd: string): JwtConfig | undefined {
  const { jwks, jwks_file: file, issuer, audience } = jwt;
  if ([jwks, file, issuer, audience].every((one) => one === undefined)) return undefined;
  if (issuer === undefined || audience === undefined || (jwks === undefined) === (file === undefined))
    throw new AppError("config_invalid", "[auth.jwt] needs issuer, audience, and either jwks (a URL) or jwks_file.");
  return {
    keys: jwks === undefined ? { file: resolve(cwd, file ?? "") } : { url: jwks },
    issuer,
    audience,
    principalClaim: jwt.principal_claim,
    scopesClaim: jwt.scopes_claim,
    scopePrefix: jwt.scope_prefix,
  };
}

function oidcConfig(oidc: Sections["auth"]["oidc"]): AuthConfig["oidc"] {
  const { issuer, client_id: clientId, client_secret: clientSecret } = oidc;
  if ([issuer, clientId, clientSecret].every((one) => one === undefined)) return undefined;
  if (issuer === undefined || clientId === undefined)
    throw new AppError("config_invalid", "[auth.oidc] needs both issuer and client_id.");
  return {
    issuer,
    clientId,
    ...(clientSecret !== undefined && { clientSecret }),
    principalClaim: oidc.principal_claim,
    scopes: oidc.scopes,
    sessionMs: oidc.session_hours * 3_600_000,
  };
}
