import { Argument, type Command, type Option } from "commander";
import type { CliContext } from "../../session/context.ts";

// Loaded by the command that is called: none needs what all need.
const commands = () => import("./skills-command.ts");

/** Adds `skills` and its commands. */
export function addSkills(
  program: Command,
  context: CliContext,
  done: (exitCode: number) => void,
  shared: { config(): Option; json(): Option },
): void {
  const skills = program.command("skills").description("the skills that agents use: instructions with scripts");
  const leaf = (name: string, description: string, isDefault = false) =>
    skills.command(name, { isDefault }).description(description).addOption(shared.config());
  const skill = () => new Argument("<skill>", "its name");
  leaf("list", "list the skills and whether agents may use them", true)
    .addOption(shared.json())
    .action(async (options) => done(await (await commands()).listSkills(options, context)));
  leaf("show", "show everything that approving the skill would cover")
    .addArgument(skill())
    .action(async (name: string, options) => done(await (await commands()).showSkill(name, options, context)));
  leaf("add", "copy a skill's folder into the home, where it waits for approval")
    .argument("<folder>", "the folder with its SKILL.md")
    .action(async (folder: string, options) => done(await (await commands()).addSkill(folder, options, context)));
  leaf("approve", "let agents use a skill as it is now")
    .addArgument(skill())
    .option("--hash <hash>", "only if it is still what `skills show` showed")
    .action(async (name: string, options) => done(await (await commands()).approveSkill(name, options, context)));
  leaf("remove", "remove a skill from the home")
    .addArgument(skill())
    .action(async (name: string, options) => done(await (await commands()).removeSkill(name, options, context)));
}
