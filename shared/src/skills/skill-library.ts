import { readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { AppError, unlessMissing } from "../core/errors.ts";
import type { KeptText } from "../core/text/kept-text.ts";
import { removeStale } from "../machine/workspace/own-files/remove-stale.ts";
import { nameLike } from "./name-like.ts";
import { readSkillFolder, type SkillFolder } from "./skill-folder.ts";
import { createSkillPins } from "./skill-pins.ts";
import { skillName } from "./skill-text.ts";
import { writeSkillFiles } from "./write-skill.ts";

/** Where a skill was found: with the product, in the home, or beside the settings. */
export type SkillSource = "shipped" | "home" | "project";

/** A skill that was found, whether or not agents may use it. */
export type ListedSkill = {
  readonly name: string;
  readonly source: SkillSource;
  /** Its folder. */
  readonly path: string;
  /**
   * Agents use those that are shipped or approved. `changed`: it is not what was approved; `new`:
   * nobody approved it; `invalid`: it cannot be used, `problem` says why.
   */
  readonly state: "shipped" | "approved" | "new" | "changed" | "invalid";
  readonly problem?: string;
  /** Another skill whose name could be taken for this one's; only while nobody approved it. */
  readonly like?: string;
  /** What was read; left out for an invalid one. */
  readonly skill?: SkillFolder;
};

/** The skills of a system. Each call reads the folders anew: what is judged is what is used. */
export interface SkillLibrary {
  list(): Promise<readonly ListedSkill[]>;
  /** The skill, if agents may use it as it is now. Rejects with `not_found` or `forbidden`. */
  open(name: string): Promise<SkillFolder & Pick<ListedSkill, "source">>;
  /**
   * Approves what a person saw. Rejects with `conflict` if the skill is another by now, with
   * `not_found` or `invalid_input`.
   */
  approve(name: string, hash: string): Promise<void>;
  /**
   * Copies a folder into the home, where it waits for approval. Rejects with `conflict` for a name
   * that is taken.
   */
  add(folder: string): Promise<SkillFolder>;
  /** Removes a skill of the home. Rejects with `not_found`, or `forbidden` for any other. */
  remove(name: string): Promise<void>;
}

/** A skill that was found, by its name. Rejects with `not_found`. */
export async function findSkill(library: Pick<SkillLibrary, "list">, name: string): Promise<ListedSkill> {
  const found = (await library.list()).find((one) => one.name === name);
  if (found === undefined) throw new AppError("not_found", `There is no skill ${JSON.stringify(name)}.`);
  return found;
}

/** The folders of skills, and which of them are approved. */
export type SkillPlaces = {
  readonly home: string;
  /** The folder of the project's skills, which may be missing. */
  readonly project: string;
  readonly pins: KeptText;
  /** Ours; others for tests. */
  readonly shipped?: string;
};

const ours = join(import.meta.dir, "shipped");
/** More folders than this in one place are not read. */
const maxSkills = 200;

/** The skills in these places. Of two with one name the earlier place's counts. */
export function createSkillLibrary({ home, project, pins: kept, shipped = ours }: SkillPlaces): SkillLibrary {
  const pins = createSkillPins(kept);
  const own = join(home, "skills");
  const places = [
    ["shipped", shipped],
    ["home", own],
    ["project", project],
  ] as const;
  const list = async () => {
    const approved = await pins.read();
    const all: ListedSkill[] = [];
    for (const [source, root] of places)
      for (const name of await namesIn(root)) all.push(await inspect({ source, root, name }, approved, all));
    return all.map((one) => (isWaiting(one) ? { ...one, ...likeness(one.name, all) } : one));
  };
  const find = async (name: string) => {
    const found = (await list()).find((one) => one.name === name);
    if (found === undefined) throw new AppError("not_found", `There is no skill ${JSON.stringify(name)}.`);
    return found;
  };
  return {
    list,
    async open(name) {
      const { state, source, skill, problem } = await find(name);
      if (skill !== undefined && isUsable(state)) return { ...skill, source };
      const why = { new: "nobody has approved it", changed: "it changed after it was approved" }[state as "new"];
      throw new AppError("forbidden", `The skill ${name} cannot be used: ${why ?? problem}.`);
    },
    async approve(name, hash) {
      const { source, skill, problem } = await find(name);
      if (skill === undefined) throw new AppError("invalid_input", `The skill ${name} cannot be approved. ${problem}`);
      if (source === "shipped") return;
      if (skill.hash !== hash)
        throw new AppError("conflict", `The skill ${name} is not what you saw. Look again, then approve.`);
      await pins.approve(name, hash);
    },
    async add(folder) {
      const from = resolve(folder);
      const skill = await readSkillFolder(dirname(from), basename(from));
      if ((await list()).some(({ name }) => name === skill.name))
        throw new AppError("conflict", `There is a skill ${skill.name} already. Remove it first.`);
      await store(own, skill);
      return skill;
    },
    async remove(name) {
      const { source } = await find(name);
      if (source === "shipped")
        throw new AppError(
          "forbidden",
          `The skill ${name} comes with Manyhands. [agents.NAME] skills names those that an agent may use.`,
        );
      if (source !== "home")
        throw new AppError("forbidden", `The skill ${name} is not one of the home: remove its folder.`);
      await rm(join(own, name), { recursive: true, force: true });
      await pins.forget(name);
    },
  };
}

/** Whether agents may use a skill in this state. */
export function isUsable(state: ListedSkill["state"]): boolean {
  return state === "shipped" || state === "approved";
}

function isWaiting({ state }: ListedSkill): boolean {
  return state === "new" || state === "changed";
}

async function namesIn(root: string): Promise<readonly string[]> {
  const entries = (await readdir(root, { withFileTypes: true }).catch(unlessMissing)) ?? [];
  const folders = entries.filter((entry) => !entry.name.startsWith(".") && !entry.isFile());
  return folders
    .map(({ name }) => name)
    .sort()
    .slice(0, maxSkills);
}

type Found = { readonly source: SkillSource; readonly root: string; readonly name: string };

async function inspect(
  { source, root, name }: Found,
  approved: Readonly<Record<string, string>>,
  earlier: readonly ListedSkill[],
): Promise<ListedSkill> {
  const place = { name, source, path: join(root, name) };
  const first = earlier.find((one) => one.name === name);
  const taken = first && `There is another skill of this name in ${dirname(first.path)}`;
  const misnamed = skillName.test(name) ? undefined : "Its folder's name is not that of a skill";
  if (taken ?? misnamed) return { ...place, state: "invalid", problem: `${taken ?? misnamed}.` };
  try {
    const skill = await readSkillFolder(root, name);
    const pin = Object.hasOwn(approved, name) ? approved[name] : undefined;
    const judged = pin === undefined ? "new" : pin === skill.hash ? "approved" : "changed";
    return { ...place, state: source === "shipped" ? "shipped" : judged, skill };
  } catch (error) {
    if (error instanceof AppError) return { ...place, state: "invalid", problem: error.message };
    throw error;
  }
}

function likeness(name: string, all: readonly ListedSkill[]): { readonly like?: string } {
  const like = nameLike(
    name,
    all.flatMap((one) => (one.name !== name && isUsable(one.state) ? [one.name] : [])),
  );
  return like === undefined ? {} : { like };
}

/** Writes what was read, so that it is complete or not there. */
async function store(own: string, { name, files }: SkillFolder): Promise<void> {
  await removeStale(own, { names: /^\.[\da-f-]{36}$/ });
  const arriving = join(own, `.${crypto.randomUUID()}`);
  try {
    await writeSkillFiles(arriving, files);
    await rename(arriving, join(own, name));
  } finally {
    await rm(arriving, { recursive: true, force: true });
  }
}
