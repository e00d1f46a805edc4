import { AppError } from "../../core/errors.ts";
import type { ToolContext } from "../../core/tools/tool.ts";
import type { PooledOutcome, SessionPool } from "../shell/session-pool.ts";
import { callOf } from "./display-session.ts";

/**
 * A program's output on the display. `restarted` says why the windows of earlier calls are gone.
 */
export type DisplayOutput = { readonly stdout: Buffer; readonly stderr: string; readonly restarted?: string };

/**
 * Runs a program with its arguments on the conversation's display and returns its output. Rejects
 * with `unavailable` when it fails, and with `timeout`.
 */
export async function runOnDisplay(
  displays: SessionPool,
  context: Pick<ToolContext, "workspace" | "signal">,
  argv: readonly string[],
  timeoutMs: number,
): Promise<DisplayOutput> {
  const outputs = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const outcome = await displays.run(context, callOf(argv), {
    timeoutMs,
    signal: context.signal,
    onOutput: (stream, bytes) => void outputs[stream].push(Buffer.from(bytes)),
  });
  const stdout = Buffer.concat(outputs.stdout);
  const stderr = Buffer.concat(outputs.stderr).toString().trim();
  refuseFailure(outcome, stderr || stdout.toString());
  return { stdout, stderr, ...(outcome.restarted !== undefined && { restarted: outcome.restarted }) };
}

function refuseFailure({ state, payload, limit }: PooledOutcome, said: string): void {
  if (limit !== undefined) throw new AppError("timeout", `Stopped at its limit: ${limit}.`);
  if (state !== "finished")
    throw new AppError(
      "unavailable",
      "The display has ended, and its programs with it. The next call starts a new one.",
    );
  if (payload !== "0") throw new AppError("unavailable", said.trim() || `It ended with exit code ${payload}.`);
}
