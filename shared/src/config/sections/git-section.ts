import * as z from "zod";
import { address } from "./agent-section.ts";

const text = z.string().min(1);

/** `[git."HOST"]`: servers of repositories, and what shows them who asks. */
export const gitSection = z.object({}).catchall(
  z.strictObject({
    host: z
      .string()
      .regex(/^(?:\[[\da-f:.]+\]|[a-z\d_-]+(?:\.[a-z\d_-]+)*)(?::\d{1,5})?$/i)
      .describe('a host as in a URL: "git.example" or "127.0.0.1:3000"')
      .optional(),
    kind: z.enum(["github", "gitlab", "gitea", "forgejo", "git"]).optional(),
    token: text.optional(),
    token_env: text.describe("the name of the variable that holds the token").optional(),
    username: z
      .string()
      .regex(/^[^:\p{Cc}]+$/u)
      .describe("a name without a colon")
      .optional(),
    api: address.optional(),
    repositories: z
      .array(z.string().regex(/^[\w.~-]+(?:\/[\w.~-]+)*\/(?:\*|[\w.~-]+)$/))
      .describe('a list of repositories such as "owner/name" or "owner/*"')
      .optional(),
    push: z.enum(["ask", "allow", "never"]).default("ask"),
    author: z
      .string()
      .regex(/^[^<>\p{Cc}]+ <[^<>\s]+@[^<>\s]+>$/u)
      .describe('a name and an address: "Manyhands <manyhands@example.com>"')
      .default("Manyhands <manyhands@localhost.invalid>"),
  }),
);
