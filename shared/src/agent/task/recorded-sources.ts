import { openWeb, sourcesOf, type TakenIn } from "../../core/taken-in.ts";

/** Tools of earlier versions whose results brought nothing into a task. */
const broughtNothing = [
  "ask_human",
  "terminate",
  "create_chat_completion",
  "planning",
  "str_replace_editor",
  "see_image",
  "find_tools",
];

/**
 * What a recorded result brought into its task. Earlier versions recorded it only where the tool's
 * name did not say it; what the names of that time said stays so. No tool that came later belongs
 * here: its results are recorded with what they bring.
 */
export function recordedSources({
  name,
  takenIn,
}: {
  readonly name: string;
  readonly takenIn?: TakenIn | undefined;
}): TakenIn {
  if (takenIn !== undefined) return takenIn;
  if (broughtNothing.includes(name)) return [];
  return /^(?:browser_|web_)/.test(name) && !name.includes("__") ? [openWeb] : sourcesOf({ name });
}
