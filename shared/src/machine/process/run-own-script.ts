import type * as z from "zod";
import { createSlots } from "../../core/async/slots.ts";
import { AppError } from "../../core/errors.ts";
import { watchMemory } from "./memory-watch.ts";
import { ownScriptArgv } from "./own-script.ts";
import { ownScriptReply } from "./own-script-reply.ts";

/** What a script is given and may use, and the schema of its result. */
export type OwnScriptRun<T> = {
  /** The script's absolute path. */
  readonly script: string;
  readonly args?: readonly string[];
  /** Its standard input: content, or the descriptor of an open file. */
  readonly stdin: Blob | number;
  /** What it works on, as the subject of an error's sentence: `The chart`. */
  readonly subject: string;
  readonly deadlineMs: number;
  readonly memoryBytes: number;
  readonly signal: AbortSignal;
  readonly result: z.ZodType<T>;
};

/** How many of our scripts run at once in this process: each may take gigabytes. */
const scriptsAtOnce = 4;
/** How long one waits for others to end. */
const waitMs = 5 * 60_000;

const slots = createSlots(scriptsAtOnce);

/**
 * Runs one of our scripts on what others wrote, confined as by `ownScriptArgv`, and returns the
 * result that it gives to `replyOf`. While four others run it waits, at most five minutes. It is
 * killed at its deadline, above its memory, and with the signal. Rejects with the failure it
 * replies, `timeout`, `too_large`, `unavailable` when it was not begun or ended otherwise, or with
 * the signal's reason.
 */
export async function runOwnScript<T>(run: OwnScriptRun<T>): Promise<T> {
  const reply = ownScriptReply(run.result).parse(JSON.parse(await inTurn(run)));
  if (reply.ok) return reply.result;
  throw new AppError(reply.code, reply.message);
}

type ScriptRun = Omit<OwnScriptRun<unknown>, "result">;

async function inTurn(run: ScriptRun): Promise<string> {
  const { subject, signal } = run;
  const tooLate = AbortSignal.timeout(waitMs);
  let isBegun = false;
  const work = () => {
    isBegun = true;
    return outputOf(run);
  };
  try {
    return await slots.within(AbortSignal.any([signal, tooLate]), work);
  } catch (error) {
    signal.throwIfAborted();
    if (isBegun || !tooLate.aborted) throw error;
    const minutes = waitMs / 60_000;
    throw new AppError(
      "unavailable",
      `${subject} was not begun: this server worked on ${scriptsAtOnce} others for ${minutes} minutes. Try again later.`,
    );
  }
}

async function outputOf(run: ScriptRun): Promise<string> {
  const { script, args = [], stdin, subject, deadlineMs, memoryBytes, signal } = run;
  signal.throwIfAborted();
  const deadline = AbortSignal.timeout(deadlineMs);
  const child = Bun.spawn([...ownScriptArgv(script), ...args], {
    cwd: "/",
    env: { LANG: "C.UTF-8", TZ: "UTC" },
    stdin,
    stdout: "pipe",
    stderr: "ignore",
    signal: AbortSignal.any([signal, deadline]),
    killSignal: "SIGKILL",
  });
  let greedy = false;
  const unwatch = watchMemory(child.pid, memoryBytes, () => {
    greedy = true;
    child.kill("SIGKILL");
  });
  const [output, exitCode] = await Promise.all([new Response(child.stdout).text(), child.exited]).finally(unwatch);
  signal.throwIfAborted();
  if (greedy)
    throw new AppError("too_large", `${subject} was stopped: it needed more than ${inWords(memoryBytes)} of memory.`);
  if (deadline.aborted) throw new AppError("timeout", `${subject} was stopped after ${deadlineMs / 1000} s.`);
  if (exitCode !== 0) throw new AppError("unavailable", `${subject}: its process ended with exit code ${exitCode}.`);
  return output;
}

function inWords(bytes: number): string {
  const gigabytes = bytes / 2 ** 30;
  return gigabytes < 1 ? `${Math.round(bytes / 2 ** 20)} MB` : `${gigabytes} GB`;
}
