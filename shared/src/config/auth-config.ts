import { resolve } from "node:path";
import type { JwtConfig } from "../auth/jwt.ts";
import { AppError } from "../core/errors.ts";
import type { Sections } from "./sections.ts";

/** Who is let in besides the holders of tokens. Paths are absolute. */
export type AuthConfig = {
  /** JWTs of this issuer are accepted. */
  readonly jwt?: JwtConfig;
};

/** Throws `config_invalid` for a section that is half filled in, or that would have no effect. */
export function authConfig({ auth, server }: Pick<Sections, "auth" | "server">, cwd: string): AuthConfig {
  const { jwks, jwks_file: file, issuer, audience, ...claims } = auth.jwt;
  if ([jwks, file, issuer, audience].every((one) => one === undefined)) return {};
  if (issuer === undefined || audience === undefined || (jwks === undefined) === (file === undefined))
    throw new AppError("config_invalid", "[auth.jwt] needs issuer, audience, and either jwks (a URL) or jwks_file.");
  if (server.token === undefined)
    throw new AppError(
      "config_invalid",
      "[auth.jwt] is set, but no token, so everybody would be let in. Set MANYHANDS_TOKEN (or [server] token), which you and the servers among themselves use.",
    );
  return {
    jwt: {
      keys: jwks === undefined ? { file: resolve(cwd, file ?? "") } : { url: jwks },
      issuer,
      audience,
      principalClaim: claims.principal_claim,
      scopesClaim: claims.scopes_claim,
      scopePrefix: claims.scope_prefix ?? "",
    },
  };
}
