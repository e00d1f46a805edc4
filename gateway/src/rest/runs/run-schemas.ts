import { errorCodes } from "manyhands/internal/core/errors";
import { runStates } from "manyhands/internal/runs/run-view";
import * as z from "zod";
import { httpUrl } from "../http-url.ts";

const fileSchema = z
  .object({ name: z.string(), mediaType: z.string(), size: z.int(), sha256: z.string(), url: z.string() })
  .meta({ id: "File", description: "A file by its content; the URL is where this gateway serves it." });

const approvalSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    arguments: z.string().describe("JSON text, exactly as the call would be made."),
    risk: z.string().exactOptional().describe("What the call would do."),
    forTask: z
      .string()
      .exactOptional()
      .describe('What the answer "yes ID for this task" allows until the task ends, if it may be allowed.'),
  })
  .meta({
    id: "Approval",
    description: 'A call that the question asks to allow. The answer "yes ID" allows it once, any other refuses it.',
  });

/** A run as the REST API shows it. */
export const runSchema = z
  .object({
    id: z.string(),
    name: z.string().describe("The flow or agent it is a run of."),
    contextId: z.string().describe("The conversation it belongs to."),
    status: z
      .enum(runStates)
      .describe("`input-required` waits for an answer; `paused` waits until somebody fixes the cause."),
    input: z.string(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    lastEvent: z.int().describe("The sequence number of its newest event."),
    progress: z.string().exactOptional().describe("The newest line worth showing."),
    question: z.string().exactOptional().describe("Its question, while it waits for an answer."),
    questionEvent: z
      .int()
      .exactOptional()
      .describe("The number of the event that asked; an answer that names it answers this question only."),
    approval: approvalSchema.exactOptional(),
    asker: z.string().exactOptional().describe("The agent whose question it is, if another agent asked it."),
    answer: z.string().exactOptional(),
    data: z.json().exactOptional().describe("The answer as data, if a schema was given."),
    files: z.array(fileSchema),
    usage: z
      .object({ tokens: z.number(), outputTokens: z.number().exactOptional(), usd: z.number(), unpriced: z.boolean() })
      .describe(
        "Usage so far, agents included; `outputTokens` is the part of `tokens` that was written; `unpriced` if some calls had no known price.",
      ),
    agents: z.array(z.string()).describe("The agents it asked, in the order of their first ask."),
    budget: z
      .object({
        steps: z.number().exactOptional(),
        tokens: z.number().exactOptional(),
        usd: z.number().exactOptional(),
        wallMs: z.number().exactOptional(),
      })
      .exactOptional()
      .describe("What it may use, agents included, as far as its caller limited that."),
    error: z
      .object({ code: z.enum(Object.keys(errorCodes) as [keyof typeof errorCodes]), message: z.string() })
      .exactOptional(),
  })
  .meta({ id: "Run" });

/** A page of runs. */
export const runListSchema = z
  .object({
    runs: z.array(
      runSchema.extend({
        match: z
          .object({ runId: z.string(), seq: z.int(), text: z.string() })
          .exactOptional()
          .describe("Where it says the words of `q`: the event, in it or in a run it asked for, and the text around."),
      }),
    ),
    total: z.int().exactOptional().describe("Left out with `q`, `agent` and `minUsd`, for which runs are read."),
    nextCursor: z.string().exactOptional(),
  })
  .meta({ id: "RunList" });

const incomingFile = z
  .union([
    z.strictObject({
      name: z.string().min(1).max(255),
      mediaType: z.string().max(255).exactOptional(),
      bytes: z.base64().describe("The content in base64."),
    }),
    z.strictObject({ url: httpUrl, name: z.string().min(1).max(255).exactOptional() }),
  ])
  .meta({ id: "IncomingFile", description: "An attached file: its content or its URL." });

/** A caller's message: a text, or a text with data and files. */
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

/** A validated message of a caller. */
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
    options: z.record(z.string(), z.json()).exactOptional().describe("See the flow's own schema."),
    contextId: z.string().min(1).max(1024).exactOptional().describe("A conversation to continue."),
    budget: z
      .strictObject({
        steps: z.int().min(1).exactOptional(),
        tokens: z.int().min(1).exactOptional(),
        usd: z.number().min(0).exactOptional(),
        wallMs: z.int().min(1).exactOptional(),
      })
      .exactOptional()
      .describe("The run's limits, agents included."),
    outputSchema: z.record(z.string(), z.json()).exactOptional().describe("JSON Schema for the answer."),
  })
  .meta({ id: "FlowRequest" });

/** The idempotency key of a run or message. */
export const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .optional()
  .describe("Repeating a key returns the same run or message; with other content it is refused.");
