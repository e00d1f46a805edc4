import * as z from "zod";
import { address } from "./agent-section.ts";

const text = z.string().min(1);
const port = z.int().min(1).max(65535);
const header = z
  .string()
  .regex(/^[\w-]{1,100}$/)
  .describe("the name of a header");

/** What a schedule and a trigger start, and for whom. */
const start = {
  start: text.describe("the name of a flow or an agent"),
  task: text.max(20_000),
  agents: z.array(text).min(1).max(50).describe("a list of agents").optional(),
  options: z.record(z.string(), z.json()).describe("a table of the flow's options; in a variable, as JSON").optional(),
  budget: z
    .strictObject({
      steps: z.int().min(1).optional(),
      tokens: z.int().min(1).optional(),
      usd: z.number().min(0).optional(),
    })
    .optional(),
  notify: z.array(text).max(10).describe("a list of names of [notify] tables").default([]),
  principal: z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/)
    .describe("the name of a principal")
    .default("local"),
};

/** `[schedules.NAME]` */
export const schedulesSection = z.object({}).catchall(
  z.strictObject({
    ...start,
    cron: text.max(200).describe('five fields, such as "0 8 * * MON-FRI", or a word such as "@daily"'),
    time_zone: text.max(100).default("UTC"),
    missed: z.enum(["once", "skip"]).default("once"),
    overlap: z.enum(["skip", "allow"]).default("skip"),
  }),
);

/** `[triggers.NAME]` */
export const triggersSection = z.object({}).catchall(
  z.strictObject({
    ...start,
    type: z.enum(["github", "gitlab", "slack", "standard", "hmac"]),
    secret: z.string().min(8).describe("a secret of 8 characters or more").optional(),
    secret_env: text.describe("the name of the variable that holds the secret").optional(),
    events: z.array(text).max(100).describe("a list of events").default([]),
    signature_header: header.default("X-Signature-256"),
    timestamp_header: header.optional(),
  }),
);

/** `[notify.NAME]` */
export const notifySection = z.object({}).catchall(
  z.strictObject({
    type: z.enum(["webhook", "slack", "email"]),
    principals: z.array(text).describe("a list of principals").default([]),
    url: address.optional(),
    url_env: text.describe("the name of the variable that holds the URL").optional(),
    secret: z.string().min(8).describe("a secret of 8 characters or more").optional(),
    secret_env: text.describe("the name of the variable that holds the secret").optional(),
    host: text.optional(),
    port: port.optional(),
    security: z.enum(["starttls", "tls", "none"]).default("starttls"),
    user: text.optional(),
    password: text.optional(),
    password_env: text.describe("the name of the variable that holds the password").optional(),
    from: text.optional(),
    to: z.array(text).min(1).max(50).describe("a list of addresses").optional(),
  }),
);
