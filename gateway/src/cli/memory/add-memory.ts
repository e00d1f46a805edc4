import { Argument, type Command, Option } from "commander";
import { memoryKinds } from "manyhands/internal/core/memory";
import type { CliContext } from "../../session/context.ts";

// Loaded by the command that is called: none needs what all need.
const commands = () => import("./memory-command.ts");

/** Adds `memory` and its commands. */
export function addMemoryCommands(
  program: Command,
  context: CliContext,
  done: (exitCode: number) => void,
  shared: { config(): Option; json(): Option },
): void {
  const memory = program.command("memory").description("what agents remember across conversations");
  const leaf = (name: string, description: string, isDefault = false) =>
    memory
      .command(name, { isDefault })
      .description(description)
      .addOption(shared.config())
      .option("--principal <name>", "whose memory", "local");
  const id = () => new Argument("<id>", "the entry, as `memory list` shows it");
  const kind = () => new Option("--kind <kind>", "what it is").choices([...memoryKinds]);
  const publicText = "not private: recalling it does not make a task private";
  leaf("list", "list what is remembered, the most recently changed first", true)
    .addOption(shared.json())
    .option("--find <words>", "only entries with some of these words")
    .action(async (options) => done(await (await commands()).listMemory(options, context)));
  leaf("show", "show one entry and where it came from")
    .addArgument(id())
    .addOption(shared.json())
    .action(async (entry: string, options) => done(await (await commands()).showMemory(entry, options, context)));
  leaf("add", "remember a text")
    .argument("<text...>", "what to remember")
    .addOption(kind())
    .addOption(shared.json())
    .option("--public", publicText)
    .action(async (text: string[], options) =>
      done(await (await commands()).addMemory(text.join(" "), options, context)),
    );
  leaf("edit", "change an entry")
    .addArgument(id())
    .argument("[text...]", "its new text")
    .addOption(kind())
    .option("--public", publicText)
    .option("--no-public", "it is private again")
    .action(async (entry: string, text: string[], options) =>
      done(
        await (await commands()).editMemory(entry, text.length === 0 ? undefined : text.join(" "), options, context),
      ),
    );
  leaf("remove", "remove an entry, from the disk too")
    .addArgument(id())
    .action(async (entry: string, options) => done(await (await commands()).removeMemory(entry, options, context)));
  leaf("clear", "remove everything that is remembered")
    .option("--yes", "confirm; without it nothing is removed")
    .action(async (options) => done(await (await commands()).clearMemory(options, context)));
}
