import { AppError } from "../../../core/errors.ts";
import { killOnAbort } from "../../../machine/sandbox/kill-on-abort.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";

/** No settings but those of the repository it works in, and nobody to ask. */
const gitEnvironment = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_TERMINAL_PROMPT: "0",
};

/** A shell script that runs git in the sandbox. */
export type GitScript = {
  readonly script: string;
  readonly args: readonly string[];
  readonly input?: readonly Uint8Array[];
  /** A workspace to run in. */
  readonly workspace: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
};

/**
 * Runs the script in a process of its own and returns what it wrote, whole. A code other than 0 is
 * a result too. Rejects with `timeout`, `too_large`, or the signal's reason.
 */
export async function runGit(
  { script, args, input = [], workspace, timeoutMs, maxBytes }: GitScript,
  { sandbox, signal }: { readonly sandbox: Sandbox; readonly signal: AbortSignal },
): Promise<{ readonly exitCode: number; readonly output: Buffer; readonly complaint: string }> {
  signal.throwIfAborted();
  const process = await sandbox.spawn({ argv: ["sh", "-c", script, "sh", ...args], workspace, env: gitEnvironment });
  const late = AbortSignal.timeout(timeoutMs);
  using _ = killOnAbort(process, AbortSignal.any([signal, late]));
  for (const chunk of input) process.stdin.write(chunk);
  process.stdin.end();
  const [output, complaint] = await Promise.all([
    bounded(process.stdout, maxBytes, () => process.kill()),
    bounded(process.stderr, maxComplaint, () => undefined),
  ]);
  const exitCode = await process.exited;
  signal.throwIfAborted();
  if (late.aborted) throw new AppError("timeout", `git did not end within ${timeoutMs / 1000} s.`);
  if (output === undefined) throw new AppError("too_large", "That is more than can be sent from here.");
  return { exitCode, output, complaint: complaint?.toString("utf8").trim().slice(0, 300) ?? "" };
}

const maxComplaint = 100_000;

/** All of a stream; undefined if it is longer, and then `stop` was called. */
async function bounded(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  stop: () => void,
): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) stop();
    else chunks.push(chunk.slice());
  }
  return bytes > maxBytes ? undefined : Buffer.concat(chunks);
}
