import { resolve } from "node:path";
import { AppError } from "../../../core/errors.ts";
import { ownScriptArgv } from "../../../machine/process/own-script.ts";
import { watchMemory } from "../database/memory-watch.ts";
import type { ChartSpec } from "./choose-spec.ts";
import { renderReply } from "./render-protocol.ts";

const deadlineMs = 30_000;
const mostMemoryBytes = 1.5 * 2 ** 30;

/**
 * Draws a chart, and a small PNG (base64) of it unless it is too large, in a separate process
 * without access to workspace files or the network, which is killed after 30 s or with the signal.
 * Rejects with `rejected` and the library's message when it cannot be drawn, with `timeout`, and
 * with `unavailable` when the process ended.
 */
export async function renderChart(
  spec: ChartSpec,
  options: { readonly png: boolean; readonly signal: AbortSignal },
): Promise<{ readonly svg: string; readonly png: Uint8Array | undefined; readonly preview: string | undefined }> {
  const { png, signal } = options;
  signal.throwIfAborted();
  const deadline = AbortSignal.timeout(deadlineMs);
  const child = Bun.spawn(ownScriptArgv(resolve(import.meta.dir, "render-worker.ts")), {
    cwd: "/",
    env: { LANG: "C.UTF-8", TZ: "UTC" },
    stdin: new Blob([JSON.stringify({ spec, png })]),
    stdout: "pipe",
    stderr: "ignore",
    signal: AbortSignal.any([signal, deadline]),
    killSignal: "SIGKILL",
  });
  let greedy = false;
  const unwatch = watchMemory(child.pid, mostMemoryBytes, () => {
    greedy = true;
    child.kill("SIGKILL");
  });
  const [output, exitCode] = await Promise.all([new Response(child.stdout).text(), child.exited]).finally(unwatch);
  signal.throwIfAborted();
  if (greedy) throw new AppError("too_large", "The chart was stopped: it needed more than 1.5 GB of memory.");
  if (deadline.aborted) throw new AppError("timeout", `The chart was not drawn within ${deadlineMs / 1000} s.`);
  if (exitCode !== 0) throw new AppError("unavailable", `The chart's process ended with exit code ${exitCode}.`);
  const reply = renderReply.parse(JSON.parse(output));
  if (!reply.ok) throw new AppError("rejected", `Vega-Lite cannot draw this: ${reply.message}`);
  const { svg, preview } = reply;
  return { svg, png: reply.png === undefined ? undefined : Buffer.from(reply.png, "base64"), preview };
}
