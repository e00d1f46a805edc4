import type { Task } from "@a2a-js/sdk";
import * as z from "zod";
import { longestName, mostSources, type TakenIn } from "../core/taken-in.ts";
import { metadataKeys } from "./extensions.ts";

/** What a task has taken in, as metadata carries it. */
export const takenInSchema = z.array(z.string().max(longestName)).max(mostSources);

/** What a task says it had taken in when it answered; undefined where the agent does not tell. */
export function taskTakenIn({ metadata }: Pick<Task, "metadata">): TakenIn | undefined {
  return takenInSchema.safeParse(metadata?.[metadataKeys.takenIn]).data;
}
