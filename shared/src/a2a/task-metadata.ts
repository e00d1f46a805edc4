import type { Task } from "@a2a-js/sdk";
import * as z from "zod";
import { longestName, maxSources, type TakenIn } from "../core/taken-in.ts";
import type { TaskUsage } from "../core/usage.ts";
import { metadataKeys } from "./extensions.ts";

const usage = z.object({
  tokens: z.number().min(0),
  outputTokens: z.number().min(0).exactOptional(),
  usd: z.number().min(0),
  unpriced: z.boolean(),
});

/** The usage a task reports; undefined if the agent does not report any. */
export function taskUsage({ metadata }: Pick<Task, "metadata">): TaskUsage | undefined {
  return usage.safeParse(metadata?.[metadataKeys.usage]).data;
}

/** The sources a task has taken in, as carried in metadata. */
export const takenInSchema = z.array(z.string().max(longestName)).max(maxSources);

/**
 * The sources a task reports it had taken in when it answered; undefined if the agent does not
 * report them.
 */
export function taskTakenIn({ metadata }: Pick<Task, "metadata">): TakenIn | undefined {
  return takenInSchema.safeParse(metadata?.[metadataKeys.takenIn]).data;
}

/** The metadata of a stored file's part. */
export const fileFacts = z.object({ sha256: z.string(), size: z.number() });
