import * as z from "zod";
import { AppError } from "../core/errors.ts";
import type { KeptText } from "../core/text/kept-text.ts";

/** By skill: the hash of everything in it when a person approved it. */
const pinsSchema = z.record(z.string(), z.string());

/** The approved skills. Unlike an MCP server's tools, none is approved by being seen. */
export interface SkillPins {
  /** The approved hash of each skill. */
  read(): Promise<Readonly<Record<string, string>>>;
  approve(name: string, hash: string): Promise<void>;
  forget(name: string): Promise<void>;
}

/**
 * The pins in this text, which several processes may use. An unreadable text is an error: no skill
 * counts as approved then.
 */
export function createSkillPins(kept: KeptText): SkillPins {
  const change = (next: (now: Readonly<Record<string, string>>) => Readonly<Record<string, string>>) =>
    kept.change((text) => `${JSON.stringify(next(parsePins(text)), undefined, 2)}\n`);
  return {
    read: async () => parsePins(await kept.read()),
    approve: (name, hash) => change((now) => ({ ...now, [name]: hash })),
    forget: (name) => change(({ [name]: _, ...others }) => others),
  };
}

function parsePins(text: string | undefined): Readonly<Record<string, string>> {
  if (text === undefined) return {};
  try {
    return pinsSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new AppError(
      "config_invalid",
      "Which skills are approved (skill-pins.json in the home, or its row in the database) cannot be read. Remove it to approve them anew.",
      { cause },
    );
  }
}
