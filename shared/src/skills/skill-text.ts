import * as z from "zod";
import { AppError, messageOf } from "../core/errors.ts";
import { sanitize, sanitizeLine } from "../core/text/sanitize.ts";

/** What a skill's `SKILL.md` says. */
export type SkillText = {
  /** Lower case, digits and dashes; the name of its folder. */
  readonly name: string;
  /** One line: what it does and when to use it. */
  readonly description: string;
  readonly license?: string;
  /**
   * The tools its author had in mind. It allows nothing: which calls are made, and which of them a
   * person is asked about, is decided as without the skill.
   */
  readonly allowedTools?: string;
  /** The instructions, in Markdown. */
  readonly instructions: string;
};

/** Names of skills, as the convention has them. */
export const skillName = /^(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

const maxFrontMatter = 8 * 1024;
const longestDescription = 1024;
/** An anchor or alias of YAML, by which few lines unfold to many. */
const reference = /(?:[:[{,-]\s*|^\s*)[&*][\w-]/m;

/** Loose, since other readers of the convention have fields of their own. */
const frontMatter = z.looseObject({
  name: z.string().regex(skillName, "must be of lower-case letters, digits and single dashes, 64 at most"),
  description: z.string().trim().min(1).max(longestDescription),
  license: z.string().max(500).optional(),
  "allowed-tools": z.union([z.string().max(1000), z.array(z.string().max(100)).max(50)]).optional(),
});

/**
 * Reads a `SKILL.md` for the folder of this name. Throws `invalid_input` for anything that is not
 * in the convention.
 */
export function readSkillText(content: Uint8Array, folder: string): SkillText {
  const text = decode(content);
  const [, head, instructions = ""] = /^---\n([\s\S]*?)\n---[ \t]*(?:\n([\s\S]*))?$/.exec(text) ?? [];
  if (head === undefined) throw new AppError("invalid_input", "Its SKILL.md does not begin with a front matter.");
  if (head.length > maxFrontMatter)
    throw new AppError("invalid_input", `Its front matter has more than ${maxFrontMatter / 1024} KB.`);
  if (reference.test(head)) throw new AppError("invalid_input", "Its front matter refers to parts of itself.");
  const parsed = frontMatter.safeParse(parseYaml(head));
  if (!parsed.success)
    throw new AppError(
      "invalid_input",
      `Its front matter is wrong: ${sanitizeLine(z.prettifyError(parsed.error), 300)}`,
    );
  const { name, description, license, "allowed-tools": tools } = parsed.data;
  if (name !== folder)
    throw new AppError("invalid_input", `It is called ${name}, but its folder ${sanitizeLine(folder, 80)}.`);
  const allowedTools = typeof tools === "string" ? tools : tools?.join(", ");
  return {
    name,
    description: sanitizeLine(description, longestDescription),
    ...(license !== undefined && { license: sanitizeLine(license, 500) }),
    ...(allowedTools !== undefined && { allowedTools: sanitizeLine(allowedTools, 500) }),
    instructions: instructions.trim(),
  };
}

function decode(content: Uint8Array): string {
  try {
    return sanitize(new TextDecoder("utf-8", { fatal: true }).decode(content));
  } catch {
    throw new AppError("invalid_input", "Its SKILL.md is not UTF-8.");
  }
}

function parseYaml(text: string): unknown {
  try {
    return Bun.YAML.parse(text);
  } catch (error) {
    const why = messageOf(error);
    throw new AppError("invalid_input", `Its front matter cannot be read: ${sanitizeLine(why, 200)}`);
  }
}
