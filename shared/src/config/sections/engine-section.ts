import * as z from "zod";
import { publicAddress } from "./agent-section.ts";

/** `[engine]`: where runs are stored, and who decides which process executes them. */
export const engineSection = z.strictObject({
  kind: z.enum(["embedded", "postgres", "restate"]).default("embedded"),
  url: z
    .url({ protocol: /^postgres(ql)?$/ })
    .describe("a URL such as postgres://USER:PASSWORD@HOST/DATABASE")
    .optional(),
  schema: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,47}$/)
    .describe('a name such as "manyhands"')
    .default("manyhands"),
  secret_key: z
    .string()
    .min(32)
    .describe("a secret of at least 32 characters, such as `openssl rand -base64 32` prints")
    .optional(),
  other_secret_keys: z
    .array(z.string().min(32))
    .describe("a list of secrets of at least 32 characters each")
    .default([]),
  connections: z.int().min(1).max(1000).default(10),
  restate: z
    .strictObject({
      ingress: z.array(publicAddress).describe("a list of URLs").default([]),
      admin: publicAddress.optional(),
      port: z.int().min(0).max(65535).optional(),
      public_url: publicAddress.optional(),
      identity_keys: z.array(z.string().min(1)).describe("a list of public keys").default([]),
    })
    .prefault({}),
});
