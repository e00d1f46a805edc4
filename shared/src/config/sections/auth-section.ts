import * as z from "zod";
import { isLoopback } from "../../http/loopback-guard.ts";

const text = z.string().min(1);
/** Keys that come over plain HTTP from elsewhere could be anybody's. */
const keyAddress = z
  .url({ protocol: /^https?$/ })
  .refine((url) => url.startsWith("https:") || isLoopback(URL.parse(url)?.hostname ?? ""))
  .describe("an https URL, or one of this machine");

/** `[auth]`: who is let in besides the holders of tokens. */
export const authSection = z.strictObject({
  jwt: z
    .strictObject({
      jwks: keyAddress.optional(),
      jwks_file: text.optional(),
      issuer: text.optional(),
      audience: text.optional(),
      principal_claim: text.default("sub"),
      scopes_claim: text.default("scope"),
      scope_prefix: text.optional(),
    })
    .prefault({}),
  oidc: z
    .strictObject({
      issuer: keyAddress.optional(),
      client_id: text.optional(),
      client_secret: text.optional(),
      client_secret_env: text.optional(),
      client_secret_file: text.optional(),
      principal_claim: text.default("sub"),
      scopes_claim: text.optional(),
      scopes: z.array(text).default([]),
      session_hours: z.number().min(0.01).max(720).default(12),
    })
    .prefault({}),
});
