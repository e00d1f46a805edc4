import { Argument, type Command, type Option } from "commander";
import { localCaller } from "manyhands/internal/core/caller";
import type { CliContext } from "../../session/context.ts";

// Loaded by the command that is called: none needs what all need.
const commands = () => import("./profiles-command.ts");

/** Adds `profiles` and its commands. */
export function addProfiles(
  program: Command,
  context: CliContext,
  done: (exitCode: number) => void,
  shared: { config(): Option; json(): Option },
): void {
  const profiles = program.command("profiles").description("the log-ins that the browser keeps");
  const leaf = (name: string, description: string, isDefault = false) =>
    profiles
      .command(name, { isDefault })
      .description(description)
      .addOption(shared.config())
      .option("--principal <name>", "whose profiles", localCaller.principal);
  leaf("list", "list the profiles and the sites they are logged in to", true)
    .addOption(shared.json())
    .action(async (options) => done(await (await commands()).listProfiles(options, context)));
  leaf("delete", "delete a profile with all its log-ins")
    .addArgument(new Argument("<profile>", "its name"))
    .action(async (name: string, options) => done(await (await commands()).deleteProfile(name, options, context)));
}
