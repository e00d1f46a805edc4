import { resolve } from "node:path";
import { AppError } from "manyhands/internal/core/errors";
import { ownCommand } from "manyhands/internal/core/release";
import { openSkillLibrary } from "manyhands/internal/server/open-skills";
import { openShared } from "manyhands/internal/server/storage/open-shared";
import { findSkill, type SkillLibrary } from "manyhands/internal/skills/skill-library";
import type { CliContext } from "../../session/context.ts";
import { exitCodes } from "../../terminal/exit-code.ts";
import { safeLine, safeText } from "../../terminal/safe-text.ts";
import { paint } from "../../terminal/style.ts";

type Options = { readonly config?: string; readonly json?: boolean };

/** Lists every skill that was found, with its state. */
export async function listSkills(options: Options, context: CliContext): Promise<number> {
  const { terminal } = context;
  const listed = await withLibrary(options, context, (library) => library.list());
  if (options.json) {
    const rows = listed.map(({ skill, ...rest }) => ({
      ...rest,
      ...(skill && { description: skill.description, hash: skill.hash }),
    }));
    terminal.out(`${JSON.stringify(rows, undefined, 2)}\n`);
    return exitCodes.ok;
  }
  const width = Math.max(0, ...listed.map(({ name }) => safeLine(name, 64).length));
  for (const one of listed) {
    const name = paint(terminal.style, "bold", safeLine(one.name, 64).padEnd(width));
    const about = safeLine(
      one.problem ?? one.skill?.description ?? "",
      Math.max(40, terminal.style.columns - width - 14),
    );
    terminal.out(`${name}  ${paint(terminal.style, "dim", one.state.padEnd(8))}  ${about}\n`);
    if (one.like !== undefined) terminal.say(`${safeLine(one.name, 64)} is named almost like ${one.like}.`);
  }
  const waiting = listed.filter(({ state }) => state === "new" || state === "changed");
  if (waiting.length > 0)
    terminal.say(`Agents don't use what is new or changed. Read it, then approve it: ${ownCommand} skills show NAME`);
  return exitCodes.ok;
}

/**
 * Shows what approving it would approve: its instructions, its files, and the hash of all of it.
 */
export async function showSkill(name: string, options: Options, context: CliContext): Promise<number> {
  const { path, state, problem, like, skill } = await withLibrary(options, context, (library) =>
    findSkill(library, name),
  );
  const { terminal } = context;
  if (skill === undefined) throw new AppError("invalid_input", `${name} in ${path} cannot be used. ${problem}`);
  const { description, license, allowedTools, files, hash, instructions } = skill;
  const facts = [
    ["Folder", path],
    ["State", state],
    ["Description", description],
    ["License", license],
    ["Tools it names", allowedTools],
    ["Almost like", like],
    ["Files", files.map((file) => `${file.path} (${file.content.length} bytes)`).join(", ")],
    ["Hash", hash],
  ] as const;
  for (const [label, value] of facts)
    if (value !== undefined) terminal.out(`${label}: ${safeLine(value, Number.POSITIVE_INFINITY)}\n`);
  terminal.out(`\n${safeText(instructions)}\n`);
  if (state === "new" || state === "changed")
    terminal.say(`Read its scripts too. To approve exactly this: ${ownCommand} skills approve ${name} --hash ${hash}`);
  return exitCodes.ok;
}

/** Copies a folder into the home. It is not used before it is approved. */
export async function addSkill(folder: string, options: Options, context: CliContext): Promise<number> {
  const { name } = await withLibrary(options, context, (library) => library.add(resolve(context.cwd, folder)));
  context.terminal.say(`Added ${name}. No agent uses it yet. Read it with: ${ownCommand} skills show ${name}`);
  return exitCodes.ok;
}

/** Approves a skill as it is, or only as it was shown if its hash is given. */
export async function approveSkill(
  name: string,
  options: Options & { readonly hash?: string },
  context: CliContext,
): Promise<number> {
  const skill = await withLibrary(options, context, async (library) => {
    const { skill, path, problem } = await findSkill(library, name);
    if (skill === undefined) throw new AppError("invalid_input", `${name} in ${path} cannot be used. ${problem}`);
    await library.approve(name, options.hash ?? skill.hash);
    return skill;
  });
  context.terminal.say(
    `Approved ${name} with ${skill.files.length === 1 ? "its one file" : `its ${skill.files.length} files`}, as ${skill.hash.slice(0, 12)}. Agents use it within seconds.`,
  );
  return exitCodes.ok;
}

/** Removes a skill of the home and its approval. */
export async function removeSkill(name: string, options: Options, context: CliContext): Promise<number> {
  await withLibrary(options, context, (library) => library.remove(name));
  context.terminal.say(`Removed ${name}.`);
  return exitCodes.ok;
}

async function withLibrary<Result>(
  options: Options,
  { configure }: CliContext,
  work: (library: SkillLibrary) => Promise<Result>,
): Promise<Result> {
  const config = await configure(options.config);
  const shared = await openShared(config);
  try {
    return await work(openSkillLibrary(config, shared));
  } finally {
    await shared.close();
  }
}
