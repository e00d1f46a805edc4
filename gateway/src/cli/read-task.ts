import { basename, resolve } from "node:path";
import { AppError } from "manyhands/internal/core/errors";
import type { Json } from "manyhands/internal/core/json";
import * as z from "zod";
import type { CliContext } from "../session/context.ts";
import type { OutgoingFile } from "../tasks/agent-client.ts";

/** What stands for standard input, in place of a task or a file. */
const piped = "-";

/**
 * A pipe that says nothing for so long, while there is a task anyway, was meant for somebody else.
 * Milliseconds.
 */
const patienceMs = 2_000;

/**
 * A task and its files from the command line. Without words, or with one dash, the task is what is
 * piped in; beside a task that is a file. Rejects with `invalid_input` where there is no task, or a
 * file that is none.
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

/** A request's body may have 10 MB, and files grow by a third on the way. */
const mostBytes = 7_000_000;

/**
 * The files named on the command line, to go along with a message. Rejects with `invalid_input`.
 */
export async function readFiles(paths: readonly string[], cwd: string): Promise<OutgoingFile[]> {
  const files: OutgoingFile[] = [];
  let total = 0;
  for (const path of paths) {
    const file = Bun.file(resolve(cwd, path));
    if (!(await file.exists())) throw new AppError("invalid_input", `There is no file ${path}.`);
    total += file.size;
    if (total > mostBytes)
      throw new AppError("invalid_input", `The files are larger than ${mostBytes / 1e6} MB together.`);
    files.push({ name: basename(path), mediaType: file.type.split(";")[0] ?? "", bytes: await file.bytes() });
  }
  return files;
}

const schema = z.record(z.string(), z.json());

/**
 * The JSON Schema in a file, as `--schema` names it; undefined for no file. Rejects with
 * `invalid_input`.
 */
export async function readSchema(
  path: string | undefined,
  cwd: string,
): Promise<{ readonly [keyword: string]: Json } | undefined> {
  if (path === undefined) return undefined;
  const file = Bun.file(resolve(cwd, path));
  if (!(await file.exists())) throw new AppError("invalid_input", `There is no file ${path}.`);
  try {
    return schema.parse(JSON.parse(await file.text()));
  } catch {
    throw new AppError("invalid_input", `${path} holds no JSON Schema: it has to be a JSON object.`);
  }
}
