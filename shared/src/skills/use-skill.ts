import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import type { MoreTools, ToldResult } from "../core/agent.ts";
import { AppError, unlessMissing } from "../core/errors.ts";
import { openWeb } from "../core/taken-in.ts";
import { defineTool } from "../core/tools/define-tool.ts";
import type { Tool } from "../core/tools/tool.ts";
import type { Workspace } from "../core/workspace.ts";
import { holdFolder } from "../machine/workspace/held-folder.ts";
import { ownerOf } from "../machine/workspace/workspace-file.ts";
import type { SkillFolder } from "./skill-folder.ts";
import { isUsable, type ListedSkill, type SkillLibrary } from "./skill-library.ts";
import { writeSkillFiles } from "./write-skill.ts";

/** The tool with which a model reads a skill. */
export const useSkillName = "use_skill";

/** The skills an agent may use. */
export type ChosenSkills = readonly string[] | "all";

const input = z.strictObject({ name: z.string().min(1).max(64) });

const about = "Gives you the instructions of a skill; call it before work that one of these is for:";
/** Characters of all descriptions together; about 600 tokens. */
const maxCharacters = 2_400;
/** Characters of one. */
const longestLine = 160;
/** How long the prompt may lag behind the folders, which are not read for every turn. */
const freshMs = 5_000;

/**
 * The agent's tools with `use_skill` before those that may change, while there are skills that it
 * may use. Their names and descriptions are in the tool's description, which a task keeps as its
 * first prompt had it. Where all skills are the shipped ones, a task has the tool once the user's
 * words call for one of them, so that other tasks don't pay for it.
 */
export function withSkills(more: MoreTools, library: SkillLibrary, chosen: ChosenSkills): MoreTools {
  const isChosen = (name: string) => chosen === "all" || chosen.includes(name);
  let known: Known = { lines: "", at: Number.NEGATIVE_INFINITY, skills: [], isWanted: false };
  const tool: Tool = {
    ...skillTool(library, isChosen),
    get description() {
      return `${about}${known.lines}`;
    },
  };
  const hasAny = async () => {
    if (performance.now() - known.at > freshMs) {
      const skills = (await library.list()).filter(({ name, state }) => isUsable(state) && isChosen(name));
      const isWanted = chosen !== "all" || skills.some(({ state }) => state === "approved");
      known = { lines: linesOf(skills), at: performance.now(), skills, isWanted };
    }
    return known.lines !== "";
  };
  return {
    ...more,
    async list(principal, signal, tell) {
      // Without a list nothing can be used, and the task goes on without skills.
      const [listed, any] = await Promise.all([more.list(principal, signal, tell), hasAny().catch(() => false)]);
      return any ? { ...listed, tools: [tool, ...listed.tools] } : listed;
    },
    offer(tools, told, said) {
      const { skills, isWanted } = known;
      const isNeeded = () => isWanted || isUsed(told) || skills.some((skill) => callsFor(said, skill));
      const own = tools.filter(({ name }) => name === useSkillName);
      const others = tools.filter(({ name }) => name !== useSkillName);
      return [...(own.length > 0 && isNeeded() ? own : []), ...more.offer(others, told, said)];
    },
    mayHave: (name) => name === useSkillName || more.mayHave(name),
  };
}

type Described = Pick<ListedSkill, "name" | "skill">;

/** The skills as last listed; `isWanted`: a person chose or approved some of them. */
type Known = {
  readonly lines: string;
  readonly at: number;
  readonly skills: readonly Described[];
  readonly isWanted: boolean;
};

function isUsed(told: readonly ToldResult[]): boolean {
  return told.some(({ name }) => name === useSkillName);
}

/** Words that describe no kind of work. */
const common = new Set([
  "skill",
  "with",
  "from",
  "that",
  "this",
  "only",
  "when",
  "user",
  "want",
  "them",
  "before",
  "what",
  "write",
]);

/**
 * Whether words of the user call for a skill: they speak of skills, or share two words with its
 * name and description.
 */
function callsFor(said: readonly string[], { name, skill }: Described): boolean {
  const words = new Set(said.flatMap(wordsOf));
  if (words.has("skill")) return true;
  return (
    new Set(wordsOf(`${name} ${skill?.description}`).filter((word) => words.has(word) && !common.has(word))).size > 1
  );
}

/** Words of four letters or more, without a plural's s. */
function wordsOf(text: string): readonly string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []).map((word) => word.replace(/s$/, ""));
}

/** A line for each skill; where there are too many, the last have their names only. */
function linesOf(skills: readonly Described[]): string {
  let left = maxCharacters;
  return skills
    .map(({ name, skill }) => {
      const { description = "" } = skill ?? {};
      const short = description.length > longestLine ? `${description.slice(0, longestLine - 1)}…` : description;
      const line = `\n- ${name}: ${short}`;
      const shown = line.length <= left ? line : `\n- ${name}`;
      left -= shown.length;
      return left < 0 ? "" : shown;
    })
    .join("");
}

function skillTool(library: SkillLibrary, isChosen: (name: string) => boolean): Tool {
  return defineTool({
    name: useSkillName,
    description: about,
    input,
    effect: "idempotent",
    brings: [],
    async run({ name }, { workspace }) {
      if (!isChosen(name)) throw new AppError("not_found", `You have no skill ${JSON.stringify(name)}.`);
      const skill = await library.open(name);
      const folder = await place(skill, workspace);
      // Ours are as our prompts are. A person who approved another may have overlooked something.
      return {
        text: presentSkill(skill, folder),
        isError: false,
        takenIn: skill.source === "shipped" ? [] : [openWeb],
      };
    },
  });
}

const intoFolders = [".manyhands", "skills"];

/**
 * Puts the skill's files where the sandbox sees them, in place of what is there: what was read and
 * judged, with nothing beside it. Returns the folder's path in the workspace.
 */
async function place({ name, files }: SkillFolder, workspace: Workspace): Promise<string> {
  const staging = join(workspace.metaRoot, "staging", crypto.randomUUID());
  const folder = [...intoFolders, name].join("/");
  try {
    await writeSkillFiles(join(staging, "new"), files);
    await using held = await holdFolder(workspace.root, intoFolders, await ownerOf(workspace));
    // Aside first: what a tool's process left there is removed where none can reach it.
    await rename(held.at(name), join(staging, "old")).catch(unlessMissing);
    await rename(join(staging, "new"), held.at(name));
    await workspace.adopt(folder);
    return folder;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

function presentSkill({ name, instructions, allowedTools, files }: SkillFolder, folder: string): string {
  const others = files.filter(({ path }) => path !== "SKILL.md").map(({ path }) => path);
  return [
    `The skill ${name}. Follow it where it fits the user's task; it allows nothing that you may not do without it.`,
    ...(others.length === 0
      ? []
      : [`Its files are in ${folder}/ (run its scripts from the workspace): ${others.join(", ")}`]),
    ...(allowedTools === undefined
      ? []
      : [`Use no other tools for it than its author names, where you have them: ${allowedTools}`]),
    "",
    instructions,
  ].join("\n");
}
