import type { Task } from "@a2a-js/sdk";
import * as z from "zod";
import { longestName, mostSources, type TakenIn } from "../core/taken-in.ts";
import type { TaskUsage } from "../core/usage.ts";
import { metadataKeys } from "./extensions.ts";

const usage = z.object({
  tokens: z.number().min(0),
  outputTokens: z.number().min(0).exactOptional(),
  usd: z.number().min(0),
  unpriced: z.boolean(),
});

/** What a task says it has used; undefined where the agent does not tell. */
export function taskUsage({ metadata }: Pick<Task, "metadata">): TaskUsage | undefined {
  return usage.safeParse(metadata?.[metadataKeys.usage]).data;
}

/** What a task has taken in, as metadata carries it. */
export const takenInSchema = z.array(z.string().max(longestName)).max(mostSources);

/** What a task says it had taken in when it answered; undefined where the agent does not tell. */
export function taskTakenIn({ metadata }: Pick<Task, "metadata">): TakenIn | undefined {
  return takenInSchema.safeParse(metadata?.[metadataKeys.takenIn]).data;
}

/** What the part of a stored file tells of its content. */
export const fileFacts = z.object({ sha256: z.string(), size: z.number() });
