import { AppError } from "./errors.ts";

/**
 * The form of the name of an agent, a flow, a schedule and the like, which goes into URLs, run
 * kinds and environment variables.
 */
export const nameForm = /^(?=.{1,60}$)[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
/** The same in words. */
export const nameWords = "lower-case words with dashes, at most 60 characters";

/**
 * What is wrong with the name of an agent or a flow; undefined when nothing is. `what` starts the
 * sentence: "An agent" or "A flow".
 */
export function nameFault(what: string, name: unknown): string | undefined {
  if (name === undefined) return `${what} needs a name.`;
  if (typeof name === "string" && nameForm.test(name)) return undefined;
  return `${what}'s name is ${nameWords}; ${JSON.stringify(name)} is not.`;
}

/** The title for people, made from a name: `my-agent` becomes "My Agent". */
export function titleOf(name: string): string {
  return name
    .split("-")
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(" ");
}

/**
 * Throws `config_invalid` with what is wrong with a definition. If nobody catches it, as in a
 * module that only defines and serves its agent, the process prints that sentence and exits with
 * code 2: our stack trace would not help the author of the definition.
 */
export function refuseSpec(fault: string): never {
  const error = new AppError("config_invalid", fault);
  const end = (thrown: unknown) => {
    if (thrown !== error) throw thrown;
    process.stderr.write(`${fault}\n`);
    process.exit(2);
  };
  process.on("uncaughtException", end);
  // An uncaught error is reported before the next timer runs.
  setTimeout(() => process.off("uncaughtException", end), 0);
  throw error;
}
