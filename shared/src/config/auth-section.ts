import * as z from "zod";
import { isLoopback } from "../http/loopback-guard.ts";

const text = z.string().min(1);
/** Keys that come over plain HTTP from elsewhere could be anybody's. */
const keyAddress = z
  .url({ protocol: /^https?$/ })
  .refine((url) => url.startsWith("https:") || isLoopback(new URL(url).hostname))
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
});
