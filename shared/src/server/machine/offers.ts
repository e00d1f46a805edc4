import type { Offers } from "../agent-source.ts";

/** What a machine has for agents, as far as their prompts and cards depend on it. */
export type MachineFacts = {
  /** Whether commands can be run. */
  readonly shell: boolean;
  /** The libraries of the Python that commands see; undefined without a Python. */
  readonly pythonLibraries: readonly string[] | undefined;
  /** Whether the web is switched on. */
  readonly web: boolean;
  /** Why there is no browser; undefined if there is one. */
  readonly browserMissing: string | undefined;
};

/**
 * What the machine offers to an agent with these families, or with its own except those `without`
 * if `chosen` is left out.
 */
export function offersOf(
  { shell, pythonLibraries, web, browserMissing }: MachineFacts,
  chosen: readonly string[] | undefined,
  delegates: readonly string[],
  without: ReadonlySet<string> = new Set(),
): Offers {
  const has = (family: string) => (chosen === undefined ? !without.has(family) : chosen.includes(family));
  const libraries = has("python") ? pythonLibraries : undefined;
  return {
    plans: has("planning"),
    runsCode: libraries !== undefined || (has("shell") && shell),
    pythonLibraries: libraries,
    readsWeb: has("web") && web,
    fetches: web,
    browserMissing: has("browser") ? browserMissing : "It is switched off.",
    delegates: has("delegate") ? delegates : [],
  };
}
