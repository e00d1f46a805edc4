import { resolve } from "node:path";
import { AppError } from "../../../core/errors.ts";
import { ownScriptArgv } from "../../../machine/process/own-script.ts";
import { type MappedFile, mapReply } from "./map-protocol.ts";

const timeoutMs = 15_000;
const graceMs = 5_000;
const maxOutput = 32 * 1024 ** 2;

const worker = resolve(import.meta.dir, "map-worker.ts");

/**
 * The definitions in these files, found in a separate process that ends with the call: a file built
 * to hang or crash a parser costs the map, not the server. Rejects with `unavailable` when the
 * process does not respond, or the signal's reason.
 */
export async function mapFiles(
  files: readonly { readonly path: string; readonly text: string }[],
  signal: AbortSignal,
): Promise<readonly MappedFile[]> {
  signal.throwIfAborted();
  const child = Bun.spawn(ownScriptArgv(worker), {
    cwd: "/",
    env: { LANG: "C.UTF-8" },
    stdin: new Blob([JSON.stringify({ files, timeoutMs })]),
    stdout: "pipe",
    stderr: "ignore",
    timeout: timeoutMs + graceMs,
    killSignal: "SIGKILL",
    maxBuffer: maxOutput,
    signal,
  });
  const output = await new Response(child.stdout).text();
  const exitCode = await child.exited;
  signal.throwIfAborted();
  if (exitCode !== 0)
    throw new AppError("unavailable", "The files could not be parsed in time. Give a smaller folder as path.");
  return mapReply.parse(JSON.parse(output)).files;
}
