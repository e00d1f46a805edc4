import { AppError } from "manyhands/internal/core/errors";
import type { OutgoingFile } from "../tasks/agent-client.ts";
import type { CliContext } from "./context.ts";
import { readFiles } from "./read-files.ts";

/** What stands for standard input, in place of a task or a file. */
const piped = "-";

/** A pipe that says nothing for so long, while there is a task anyway, was meant for somebody else. Milliseconds. */
const patienceMs = 2_000;

/**
 * A task and its files from the command line. Without words, or with one dash, the task is what is piped in; beside a task that is a file. Rejects
 * with `invalid_input` where there is no task, or a file that is none.
 */
export async function readTask(
  words: string,
  paths: readonly string[],
  { cwd, terminal }: Pick<CliContext, "cwd" | "terminal">,
): Promise<{ readonly text: string; readonly files: readonly OutgoingFile[] }> {
  const isPiped = words === piped || words.trim() === "";
  if (isPiped && paths.includes(piped))
    throw new AppError("invalid_input", "Standard input can be the task or a file, not both.");
  const input = await (isPiped || paths.includes(piped) ? terminal.read() : terminal.read(patienceMs));
  const text = isPiped ? new TextDecoder().decode(input) : words;
  if (text.trim() === "") throw new AppError("invalid_input", "The task is empty: say in plain words what to do.");
  const files = await readFiles(
    paths.filter((path) => path !== piped),
    cwd,
  );
  if (paths.includes(piped) && input === undefined)
    throw new AppError("invalid_input", "--file - takes what is piped in, and nothing is.");
  if (isPiped || input === undefined || input.length === 0) return { text, files };
  return { text, files: [...files, fileOf(input)] };
}

function fileOf(bytes: Uint8Array): OutgoingFile {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { name: "stdin.txt", mediaType: "text/plain", bytes };
  } catch {
    return { name: "stdin.bin", mediaType: "application/octet-stream", bytes };
  }
}
