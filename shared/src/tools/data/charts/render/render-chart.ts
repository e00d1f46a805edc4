import { resolve } from "node:path";
import { runOwnScript } from "../../../../machine/process/run-own-script.ts";
import type { ChartSpec } from "../chart-spec.ts";
import { renderedChart } from "./render-protocol.ts";

const deadlineMs = 30_000;
const memoryBytes = 1.5 * 2 ** 30;

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
  const {
    svg,
    png: drawn,
    preview,
  } = await runOwnScript({
    script: resolve(import.meta.dir, "render-worker.ts"),
    stdin: new Blob([JSON.stringify({ spec, png })]),
    subject: "The chart",
    deadlineMs,
    memoryBytes,
    signal,
    result: renderedChart,
  });
  return { svg, png: drawn === undefined ? undefined : Buffer.from(drawn, "base64"), preview };
}
