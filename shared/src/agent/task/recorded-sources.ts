import { openWeb, sourcesOf, type TakenIn } from "../../core/taken-in.ts";

/** Tools of earlier versions whose results had no sources. */
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
 * The sources of a recorded result. Earlier versions recorded them only if the tool's name did not
 * imply them, and this keeps what the names implied then. Don't add newer tools: their results
 * record their sources.
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
