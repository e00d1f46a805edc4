import type { Part } from "./message.ts";

/**
 * What a task has taken in beside its user's words, by where it came from: `web` (what anybody can
 * read there), `file` (sent by the user), `task` (it came from another agent that does not tell),
 * and else the name of the tool or agent. Any of it may hold orders of somebody else; all of it but
 * `web` may hold what is nobody else's business. Derived from the journal, so it outlives the
 * process; it travels with what a task asks of other agents.
 */
export type TakenIn = readonly string[];

/** What a web page or search result that anybody can read is called. */
export const openWeb = "web";

/** What a task of an agent or flow that does not tell what it has taken in is called. */
export const foreignTask = "task";

/** What a result of this tool brings, where it does not tell itself. */
export function sourcesOf({ name, brings }: { readonly name: string; readonly brings?: TakenIn | undefined }): TakenIn {
  return brings ?? [name.slice(0, longestName)];
}

/** What parts of a message bring beside its words. */
export function sourcesIn(parts: readonly Part[]): TakenIn {
  return [...new Set(parts.flatMap(({ type }) => (type === "file" ? ["file"] : type === "data" ? ["data"] : [])))];
}

/** Whether any of it may hold what not everybody may know. */
export function holdsPrivate(takenIn: TakenIn): boolean {
  return takenIn.some((source) => source !== openWeb);
}

/** Bounds of what one agent tells another of this. */
export const longestName = 100;
export const mostSources = 100;
