import type { RunView } from "manyhands/internal/runs/run-view";
import { safeText, shortLine } from "./format.ts";
import { agents, flows } from "./store.ts";
import { words } from "./words/words.ts";

/** The task of a run as a title: the beginning of what was asked. */
export function titleOf({ input }: Pick<RunView, "input">, length = 60): string {
  return shortLine(safeText(input), length) || words().untitled;
}

/** The name of a flow or an agent for people. */
export function titleOfName(name: string): string {
  const known = flows.value.find((one) => one.name === name) ?? agents.value.find((one) => one.name === name);
  return known?.title ?? name;
}

/** Whether it is the name of a flow. */
export const isFlow = (name: string) => flows.value.some((one) => one.name === name);
