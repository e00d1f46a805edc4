import { CommanderError } from "commander";
import { AppError } from "manyhands/internal/core/errors";
import { ownCommand } from "manyhands/internal/core/release";
import type { CliContext } from "../session/context.ts";
import { exitCodes } from "../terminal/exit-code.ts";
import { guardedTerminal } from "../terminal/guarded-terminal.ts";
import { machineFailure } from "../terminal/machine-failure.ts";
import { safeText } from "../terminal/safe-text.ts";
import { manyhandsProgram } from "./program.ts";

/**
 * Runs a command line and returns its exit code. An expected failure prints one sentence on
 * standard error, as does a machine that refuses (a full disk, a home of another user): code 2 for
 * a mistake of the caller (usage, settings), 1 for others. Anything else is a bug and is thrown.
 */
export async function runCli(args: readonly string[], given: CliContext): Promise<number> {
  const context = { ...given, terminal: guardedTerminal(given.terminal) };
  let exitCode: number = exitCodes.ok;
  const program = manyhandsProgram(context, (code) => {
    exitCode = code;
  });
  try {
    if (args.length === 0) {
      program.outputHelp({ error: true });
      return exitCodes.usage;
    }
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (error instanceof Error && error.name === "TimeoutError") {
      context.terminal.say("Timed out waiting for an answer.");
      return exitCodes.failed;
    }
    const failure = machineFailure(error);
    if (failure !== undefined) {
      context.terminal.say(`${safeText(failure)} Fix that and try again; \`${ownCommand} doctor\` shows the home.`);
      return exitCodes.failed;
    }
    if (!(error instanceof AppError)) throw error;
    // The message may come from a peer.
    context.terminal.say(safeText(error.message));
    if (error.code === "unauthorized") context.terminal.say("Set MANYHANDS_TOKEN to the server's token.");
    return error.code === "config_invalid" || error.code === "invalid_input" ? exitCodes.usage : exitCodes.failed;
  }
}
