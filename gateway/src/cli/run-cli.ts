import { CommanderError } from "commander";
import { AppError } from "manyhands/internal/core/errors";
import type { CliContext } from "../session/context.ts";
import { exitCodes } from "../terminal/exit-code.ts";
import { safeText } from "../terminal/safe-text.ts";
import { manyhandsProgram } from "./program.ts";

/**
 * Runs a command line and answers its exit code. An expected failure is one sentence on standard
 * error: code 2 for what the caller wrote (usage, settings), 1 for the rest. Anything else is a bug
 * and is thrown.
 */
export async function runCli(args: readonly string[], context: CliContext): Promise<number> {
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
      context.terminal.say("No answer came in time.");
      return exitCodes.failed;
    }
    if (!(error instanceof AppError)) throw error;
    // A peer may have written it.
    context.terminal.say(safeText(error.message));
    if (error.code === "unauthorized")
      context.terminal.say("Set MANYHANDS_TOKEN to the token that the server was started with.");
    return error.code === "config_invalid" || error.code === "invalid_input" ? exitCodes.usage : exitCodes.failed;
  }
}
