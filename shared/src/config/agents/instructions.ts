import type { AgentSection } from "../sections/agent-section.ts";
import type { Settings } from "../settings/settings.ts";
import { faultAt } from "../settings/settings-error.ts";
import { type NamedFile, readInstructions } from "./named-files.ts";

/** A text in the settings, or a file that contains it. */
type Wording = { readonly text: string } | { readonly file: NamedFile };

/** An agent's instructions in the settings: the replacement, and the addition at the end. */
export type ConfiguredInstructions = { readonly instead?: Wording; readonly extra?: Wording };

type Keys = Pick<AgentSection, "instructions" | "instructions_file" | "extra_instructions" | "extra_instructions_file">;

/**
 * The instructions in a table; `named` resolves the file that a key names. Throws `config_invalid`
 * for two texts in one place.
 */
export function configuredInstructions(
  table: Keys,
  name: string,
  named: (key: string, file: string) => NamedFile,
  settings: Settings,
): ConfiguredInstructions {
  const wording = (key: "instructions" | "extra_instructions"): Wording | undefined => {
    const [text, file] = [table[key], table[`${key}_file`]];
    if (text !== undefined && file !== undefined)
      throw faultAt(
        settings,
        ["agents", name, key],
        `[agents.${name}] has both ${key} and ${key}_file. Set only one of them.`,
      );
    if (text !== undefined) return { text };
    return file === undefined ? undefined : { file: named(`${key}_file`, file) };
  };
  const [instead, extra] = [wording("instructions"), wording("extra_instructions")];
  return { ...(instead && { instead }), ...(extra && { extra }) };
}

/**
 * The agent with the instructions of the settings. Rejects with `config_invalid` if a file cannot
 * be read.
 */
export async function instructed<Agent extends { readonly instructions: string }>(
  agent: Agent,
  { instead, extra }: ConfiguredInstructions,
): Promise<Agent> {
  const own = instead === undefined ? agent.instructions : await instructionsText(instead);
  return { ...agent, instructions: extra === undefined ? own : `${own}\n\n${await instructionsText(extra)}` };
}

/** Rejects with `config_invalid` if a file cannot be read. */
export async function checkInstructions({ instead, extra }: ConfiguredInstructions): Promise<void> {
  for (const wording of [instead, extra]) if (wording !== undefined) await instructionsText(wording);
}

async function instructionsText(wording: Wording): Promise<string> {
  return "text" in wording ? wording.text : readInstructions(wording.file);
}
