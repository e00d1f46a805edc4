import { UnsupportedOperationError } from "@a2a-js/sdk/errors";
import * as z from "zod";
import type { AgentInput } from "../agent/task.ts";
import { metadataKeys } from "./extensions.ts";
import { checked } from "./request-schema.ts";

/** Agents a task may pass through; a ring of agents that call each other ends here. */
const mostHops = 8;

const options = z.object({
  [metadataKeys.budget]: z
    .strictObject({
      steps: z.int().min(1).exactOptional(),
      tokens: z.int().min(1).exactOptional(),
      usd: z.number().min(0).exactOptional(),
      wallMs: z.int().min(1).exactOptional(),
    })
    .optional(),
  [metadataKeys.hops]: z.int().min(0).default(0),
});

/**
 * What a request's metadata says of the task as a whole. Throws FieldViolationsError, and UnsupportedOperationError for a task
 * that has passed through too many agents.
 */
export function taskOptions(metadata: Record<string, unknown> | undefined): Pick<AgentInput, "budget" | "hops"> {
  const found = checked(options, metadata ?? {});
  const budget = found[metadataKeys.budget];
  const hops = found[metadataKeys.hops];
  if (hops > mostHops) throw new UnsupportedOperationError(`The task has passed through more than ${mostHops} agents`);
  return { hops, ...(budget === undefined ? {} : { budget }) };
}
