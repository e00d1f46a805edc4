import * as z from "zod";
import { scopes } from "../core/caller.ts";
import { isLoopback } from "../http/loopback-guard.ts";

const text = z.string().min(1);
const scope = z.enum(scopes).describe(`one of ${scopes.join(", ")}`);
const issuer = z
  .url({ protocol: /^https?$/ })
  .refine((url) => url.startsWith("https:") || isLoopback(new URL(url).hostname))
  .describe("an https URL, or one of this machine");

/** `[auth]`: who is let in besides the holders of tokens. */
export const authSection = z.strictObject({
  jwt: z
    .strictObject({
      jwks: issuer.optional(),
      jwks_file: text.optional(),
      issuer: text.optional(),
      audience: text.optional(),
      principal_claim: text.default("sub"),
      scopes_claim: text.default("scope"),
      scope_prefix: z.string().default(""),
    })
    .prefault({}),
  oidc: z
    .strictObject({
      issuer: issuer.optional(),
      client_id: text.optional(),
      client_secret: text.optional(),
      principal_claim: text.default("sub"),
      scopes: z
        .array(scope)
        .describe(`a list of ${scopes.join(", ")}`)
        .default(["read", "run"]),
      session_hours: z.number().min(0.1).max(720).default(12),
    })
    .prefault({}),
});
