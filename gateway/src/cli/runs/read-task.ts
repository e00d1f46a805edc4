import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { AppError } from "manyhands/internal/core/errors";
import type { Json } from "manyhands/internal/core/json";
import { mediaTypeOf } from "manyhands/internal/machine/workspace/media-type";
import * as z from "zod";
import type { CliContext } from "../../session/context.ts";
import type { OutgoingFile } from "../../tasks/agent-client.ts";
import { packFolder } from "./pack-folder.ts";

/** Means standard input, as a task or a file. */
const piped = "-";

/** A request may have 10 MB, and base64 makes files a third larger. */
const maxBytes = 7_000_000;

/**
 * When a task is given, a pipe silent for this long is ignored: it was meant for another program.
 */
const patienceMs = 2_000;

/**
 * A task and its files from the command line. Without words, or with a dash, standard input is the
 * task; with words, it is a file. Rejects with `invalid_input` without a task, or if a file does
 * not exist.
 */
export async function readTask(
  words: string,
  paths: readonly string[],
  { cwd, terminal }: Pick<CliContext, "cwd" | "terminal">,
): Promise<{ readonly text: string; readonly files: readonly OutgoingFile[] }> {
  const isPiped = words === piped || words.trim() === "";
  if (isPiped && paths.includes(piped))
    throw new AppError("invalid_input", "Standard input can be the task or a file, not both.");
  const input = await terminal.read(maxBytes, isPiped || paths.includes(piped) ? undefined : patienceMs);
  const text = isPiped ? new TextDecoder().decode(input) : words;
  if (text.trim() === "") throw new AppError("invalid_input", "The task is empty: describe in plain words what to do.");
  const files = await readFiles(
    paths.filter((path) => path !== piped),
    cwd,
    isPiped ? 0 : (input?.length ?? 0),
  );
  if (paths.includes(piped) && input === undefined)
    throw new AppError("invalid_input", "--file - reads standard input, but nothing is piped in.");
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

/**
 * The files named on the command line, to attach to a message beside `others` bytes; a folder is
 * packed into one. Rejects with `invalid_input`.
 */
export async function readFiles(paths: readonly string[], cwd: string, others = 0): Promise<OutgoingFile[]> {
  const files: OutgoingFile[] = [];
  let total = others;
  for (const path of paths) {
    const file = await readOne(path, resolve(cwd, path), maxBytes - total);
    total += file.bytes.length;
    files.push(file);
  }
  return files;
}

async function readOne(named: string, path: string, room: number): Promise<OutgoingFile> {
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isDirectory() !== true && stats?.isFile() !== true)
    throw new AppError("invalid_input", `There is no file ${named}.`);
  const instead = "Pack them with gzip, or name an address where the agent can fetch them.";
  const tooMuch = new AppError("invalid_input", `The files exceed ${maxBytes / 1e6} MB in total. ${instead}`);
  if (stats.isFile() && stats.size > room) throw tooMuch;
  const file = stats.isDirectory()
    ? await packFolder(path)
    : { name: basename(path), mediaType: mediaTypeOf(path), bytes: await Bun.file(path).bytes() };
  if (file.bytes.length > room) throw tooMuch;
  return file;
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
    throw new AppError("invalid_input", `${path} is not a JSON Schema: it must be a JSON object.`);
  }
}
