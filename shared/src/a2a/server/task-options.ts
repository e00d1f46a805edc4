import { UnsupportedOperationError } from "@a2a-js/sdk/errors";
import * as z from "zod";
import type { AgentInput } from "../../core/runs/task.ts";
import { refusalOf } from "../../core/tools/answer-schema.ts";
import { maxGiven, metadataKeys } from "../extensions.ts";
import { takenInSchema } from "../task-metadata.ts";
import { checked, messageId } from "./request-schema.ts";

/** Most agents a task may pass through; ends a cycle of agents that call each other. */
const maxHops = 8;

const longestWaitMs = 10_000;

const options = z.object({
  [metadataKeys.budget]: z
    .strictObject({
      steps: z.int().min(1).exactOptional(),
      tokens: z.int().min(1).exactOptional(),
      usd: z.number().min(0).exactOptional(),
      wallMs: z.int().min(1).exactOptional(),
    })
    .optional(),
  [metadataKeys.outputSchema]: z
    .record(z.string(), z.json())
    .check(({ value, issues }) => {
      const refusal = refusalOf(value);
      if (refusal === undefined) return;
      issues.push({ code: "custom", input: value, message: `is not a JSON Schema we can check: ${refusal}` });
    })
    .optional(),
  [metadataKeys.said]: z.array(z.string().max(20_000)).max(20).optional(),
  [metadataKeys.given]: z.array(z.string().max(8_000)).max(maxGiven).optional(),
  [metadataKeys.takenIn]: takenInSchema.optional(),
  [metadataKeys.hops]: z.int().min(0).default(0),
});

/**
 * The task options in a request's metadata. Throws FieldViolationsError, and
 * UnsupportedOperationError for a task that has passed through too many agents.
 */
export function taskOptions(
  metadata: Record<string, unknown> | undefined,
): Pick<AgentInput, "budget" | "hops" | "outputSchema" | "said" | "given" | "takenIn"> {
  if (metadata === undefined) return { hops: 0 };
  const found = checked(options, metadata);
  const budget = found[metadataKeys.budget];
  const hops = found[metadataKeys.hops];
  if (hops > maxHops) throw new UnsupportedOperationError(`The task has passed through more than ${maxHops} agents`);
  const outputSchema = found[metadataKeys.outputSchema];
  const said = found[metadataKeys.said];
  const takenIn = found[metadataKeys.takenIn];
  const given = found[metadataKeys.given];
  const asker = { ...(said && { said }), ...(given && { given }), ...(takenIn && { takenIn }) };
  return { hops, ...asker, ...(budget && { budget }), ...(outputSchema && { outputSchema }) };
}

const answering = z.object({ [metadataKeys.answers]: z.boolean().default(true) });

/** Whether a message to a task may answer its question. Throws FieldViolationsError. */
export function mayAnswer(metadata: Record<string, unknown> | undefined): boolean {
  return metadata === undefined || checked(answering, metadata)[metadataKeys.answers];
}

const wait = z.object({ [metadataKeys.wait]: z.int().min(0).max(longestWaitMs).default(0) });

/**
 * How long a request with `returnImmediately` may wait for the task to settle. Milliseconds. Throws
 * FieldViolationsError.
 */
export function mayWaitMs(metadata: Record<string, unknown> | undefined): number {
  return metadata === undefined ? 0 : checked(wait, metadata)[metadataKeys.wait];
}

const meant = z.object({ [metadataKeys.messageId]: messageId.optional() });

/**
 * The id of the message whose task a CancelTask is for, if it names one. Throws
 * FieldViolationsError.
 */
export function meantMessage(metadata: Record<string, unknown> | undefined): string | undefined {
  return checked(meant, metadata ?? {})[metadataKeys.messageId];
}
