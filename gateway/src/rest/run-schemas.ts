import { errorCodes } from "manyhands/internal/core/errors";
import * as z from "zod";

const fileSchema = z
  .object({ name: z.string(), mediaType: z.string(), size: z.int(), sha256: z.string(), url: z.string() })
  .meta({ id: "File", description: "A file by its content; the URL is where this gateway serves it." });

/** Where a run can stand, as callers see it. */
export const runStates = [
  "queued",
  "running",
  "input-required",
  "auth-required",
  "waiting",
  "paused",
  "completed",
  "failed",
  "canceled",
] as const;

/** A run as the REST face shows it. */
export const runSchema = z
  .object({
    id: z.string(),
    name: z.string().describe("The flow or agent it is a run of."),
    contextId: z.string().describe("The conversation it belongs to."),
    status: z
      .enum(runStates)
      .describe("`input-required` waits for an answer; `paused` for somebody to remove the cause."),
    input: z.string(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    lastEvent: z.int().describe("The sequence number of its newest event."),
    progress: z.string().exactOptional().describe("The newest line worth showing."),
    question: z.string().exactOptional().describe("What it asks, while it waits for an answer."),
    answer: z.string().exactOptional(),
    data: z.json().exactOptional().describe("The answer as data, where it has that form."),
    files: z.array(fileSchema),
    usage: z
      .object({ tokens: z.number(), outputTokens: z.number().exactOptional(), usd: z.number(), unpriced: z.boolean() })
      .describe(
        "What it used so far, agents included; of the tokens `outputTokens` were written; `unpriced` when some of it had no known price.",
      ),
    error: z
      .object({ code: z.enum(Object.keys(errorCodes) as [keyof typeof errorCodes]), message: z.string() })
      .exactOptional(),
  })
  .meta({ id: "Run" });

/** A page of runs. */
export const runListSchema = z
  .object({ runs: z.array(runSchema), total: z.int(), nextCursor: z.string().exactOptional() })
  .meta({ id: "RunList" });

const incomingFile = z
  .union([
    z.strictObject({
      name: z.string().min(1).max(255),
      mediaType: z.string().max(255).exactOptional(),
      bytes: z.base64().describe("The content in base64."),
    }),
    z.strictObject({ url: z.url({ protocol: /^https?$/ }), name: z.string().min(1).max(255).exactOptional() }),
  ])
  .meta({ id: "IncomingFile", description: "A file that goes along: its content, or where it can be fetched." });

/** What a caller says: a text, or a text with data and files. */
export const saidSchema = z
  .union([
    z.string().min(1),
    z.strictObject({
      text: z.string().min(1).exactOptional(),
      data: z.json().exactOptional(),
      files: z.array(incomingFile).max(50).exactOptional(),
    }),
  ])
  .meta({ id: "Said" });

/** What a caller says, checked. */
export type Said = z.output<typeof saidSchema>;

/** What starts a flow. */
export const flowRequestSchema = z
  .strictObject({
    input: saidSchema,
    agents: z
      .array(z.string().min(1))
      .min(1)
      .max(50)
      .exactOptional()
      .describe("Names, URLs or skills; all agents when left out."),
    options: z.record(z.string(), z.json()).exactOptional().describe("As the flow's own schema says."),
    contextId: z.string().min(1).max(255).exactOptional().describe("A conversation to go on in."),
    budget: z
      .strictObject({
        steps: z.int().min(1).exactOptional(),
        tokens: z.int().min(1).exactOptional(),
        usd: z.number().min(0).exactOptional(),
        wallMs: z.int().min(1).exactOptional(),
      })
      .exactOptional()
      .describe("What the run may spend at most, agents included."),
    outputSchema: z.record(z.string(), z.json()).exactOptional().describe("A JSON Schema the answer has to fit."),
  })
  .meta({ id: "FlowRequest" });

/** The key under which the same request is the same run or message. */
export const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .optional()
  .describe("The same key of a caller is the same run or message; with another content it is refused.");
