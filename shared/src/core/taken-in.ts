import type { Part } from "./message.ts";

/**
 * Where the content of a task came from, besides its user's words: `web` (public pages), `file`
 * (sent by the user), `task` (from another agent that does not report its sources), otherwise the
 * name of the tool or agent. Any of it may contain somebody else's instructions; all of it but
 * `web` may be private. Derived from the journal, so it outlives the process, and sent along with
 * what a task asks of other agents.
 */
export type TakenIn = readonly string[];

/** The source name of a public web page or search result. */
export const openWeb = "web";

/** The source name of a task from an agent or flow that does not report its sources. */
export const foreignTask = "task";

/** The sources of this tool's results, unless a result states its own. */
export function sourcesOf({ name, brings }: { readonly name: string; readonly brings?: TakenIn | undefined }): TakenIn {
  return brings ?? [name.slice(0, longestName)];
}

/** The sources of the parts of a message that are not words. */
export function sourcesIn(parts: readonly Part[]): TakenIn {
  return [...new Set(parts.flatMap(({ type }) => (type === "file" ? ["file"] : type === "data" ? ["data"] : [])))];
}

/** Whether any of it may be private. */
export function holdsPrivate(takenIn: TakenIn): boolean {
  return takenIn.some((source) => source !== openWeb);
}

/** How many characters of a source's name one agent reports to another. */
export const longestName = 100;
/** How many sources one agent reports to another. */
export const maxSources = 100;
