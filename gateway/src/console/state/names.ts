import type { RunView } from "manyhands/internal/runs/run-view";
import { safeText, shortLine } from "../words/format.ts";
import { words } from "../words/words.ts";
import { agents, flows } from "./store.ts";

/** The task of a run as a title: the beginning of what was asked. */
export function titleOf({ input }: Pick<RunView, "input">, length = 60): string {
  return shortLine(safeText(input), length) || words().untitled;
}

/** The name of a flow or an agent for people. */
export function titleOfName(name: string): string {
  const known = flows.value.find((one) => one.name === name) ?? agents.value.find((one) => one.name === name);
  return known?.title ?? name;
}

/**
 * Whether it is the name of a flow; of a name that is not known here, as that of a removed flow,
 * whether it asks others decides.
 */
export function isFlow(name: string, asksOthers = false): boolean {
  if (flows.value.some((one) => one.name === name)) return true;
  return asksOthers && !agents.value.some((one) => one.name === name);
}
