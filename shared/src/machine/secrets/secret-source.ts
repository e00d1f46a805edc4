import { readFile } from "node:fs/promises";
import { abortable, within } from "../../core/async/within.ts";
import { AppError } from "../../core/errors.ts";

/** Where the value of a secret comes from. A command and `op` run as this process, unconfined. */
export type SecretSource =
  | { readonly env: string }
  | { readonly file: string }
  | { readonly command: readonly [program: string, ...args: string[]] }
  /** A reference of 1Password, `op://vault/item/field`, which its program `op` reads. */
  | { readonly op: string };

const deadlineMs = 30_000;
const maxBytes = 64 * 1024;

/**
 * The value, without the line end of a file or a program's output. Rejects with `config_invalid` or
 * `unavailable`, saying where it was looked for and never what was there.
 */
export async function readSecret(name: string, source: SecretSource, signal: AbortSignal): Promise<string> {
  const value = (await readFrom(name, source, signal)).replace(/\r?\n$/, "");
  if (value === "") throw missing(name, "is empty");
  return value;
}

function readFrom(name: string, source: SecretSource, signal: AbortSignal): Promise<string> {
  if ("env" in source) return fromEnvironment(name, source.env);
  if ("file" in source) return fromFile(name, source.file);
  return fromProgram(name, "op" in source ? ["op", "read", "--no-newline", source.op] : source.command, signal);
}

async function fromEnvironment(name: string, variable: string): Promise<string> {
  const value = process.env[variable];
  if (value === undefined) throw missing(name, `is to be in the variable ${variable}, which is not set`);
  return value;
}

async function fromFile(name: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw missing(name, `is to be in the file ${path}, which cannot be read`, cause);
  }
}

async function fromProgram(name: string, command: SecretCommand, signal: AbortSignal): Promise<string> {
  const [program] = command;
  const path = Bun.which(program, { PATH: process.env.PATH ?? "" });
  if (path === null) throw missing(name, `is read by the program ${program}, which is not installed`);
  const child = Bun.spawn([path, ...command.slice(1)], {
    stdin: "ignore",
    stdout: "pipe",
    // What it says may have the value in it.
    stderr: "ignore",
    maxBuffer: maxBytes,
    signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]),
    killSignal: "SIGKILL",
  });
  // What it started may outlive it and hold its output open.
  const output = await abortable(within(deadlineMs + 1_000, new Response(child.stdout).text()), signal);
  const code = await child.exited;
  signal.throwIfAborted();
  const unread = (why: string) =>
    new AppError("unavailable", `The secret ${name} could not be read: ${program} ${why}`);
  // The runtime ends a program that prints more, unless that ends by itself first.
  if (output !== undefined && Buffer.byteLength(output) > maxBytes)
    throw unread(`printed more than ${maxBytes / 1024} kB.`);
  if (output === undefined || code !== 0)
    throw unread(`ended with ${child.signalCode ?? code}. Run it once by hand; perhaps it has to be unlocked.`);
  return output;
}

type SecretCommand = readonly [program: string, ...args: string[]];

function missing(name: string, why: string, cause?: unknown): AppError {
  return new AppError("config_invalid", `The secret ${name} ${why}.`, { cause });
}
