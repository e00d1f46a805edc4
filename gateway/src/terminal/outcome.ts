import { join, relative } from "node:path";
import type { Json } from "manyhands/internal/core/json";
import type { FileSource } from "../tasks/agent-client.ts";
import { saveFiles } from "../tasks/save-files.ts";
import { summaryText } from "./render.ts";
import type { TaskOutcome } from "./render-task.ts";
import { safeJson, safeText } from "./safe-text.ts";
import { paint } from "./style.ts";
import type { Terminal } from "./terminal.ts";
import { plainTotals, sizeText } from "./totals.ts";

/** How each way a task can be left reads. */
const marks = {
  completed: ["green", "✓ completed"],
  failed: ["red", "✗ failed"],
  canceled: ["yellow", "■ canceled"],
  rejected: ["red", "✗ rejected"],
  "input-required": ["yellow", "? waits for an answer"],
  "auth-required": ["yellow", "? waits for an authorization"],
  submitted: ["yellow", "… still waiting to start"],
  working: ["yellow", "… still at work"],
  paused: ["yellow", "‖ paused"],
} as const;

/**
 * Tells how a task was left: state, time, tokens and cost, the cause where it failed, and where its
 * files are now, which is `manyhands-out/<task>/` in the working directory.
 */
export async function tellOutcome(
  outcome: TaskOutcome,
  context: { readonly cwd: string; readonly terminal: Terminal },
  options: { readonly source: FileSource; readonly json?: boolean | undefined },
): Promise<void> {
  const { terminal, cwd } = context;
  const folder = join(cwd, "manyhands-out", outcome.taskId.replace(/[^\w.-]/g, "_"));
  const files = await saveFiles(outcome.artifacts, folder, options.source, { signal: AbortSignal.timeout(120_000) });
  if (options.json) {
    const { taskId, contextId, state, view } = outcome;
    const data = dataOf(outcome);
    const answer = { text: answerOf(outcome), ...(data !== undefined && { data }) };
    const result = { kind: "result", taskId, contextId, state, ...answer, files, totals: plainTotals(view.totals) };
    terminal.out(`${safeJson(result)}\n`);
    return;
  }
  const [color, words] = marks[outcome.state];
  const lines = [`${paint(terminal.style, color, words)}  ${summaryText(outcome.view)}`];
  if (causes.has(outcome.state) && outcome.text !== "") lines.push(safeText(outcome.text).replace(/^/gm, "  "));
  if (files.length > 0)
    lines.push(
      `Files in ${safeText(folder)}`,
      ...files.map(({ path, bytes }) => `  ${safeText(relative(folder, path))}  ${sizeText(bytes)}`),
    );
  terminal.out(`\n${lines.join("\n")}\n`);
}

/** States that the text is the cause of. */
const causes: ReadonlySet<TaskOutcome["state"]> = new Set(["failed", "canceled", "rejected", "paused"]);

/** The final answer where there is one, else what the agent said last. */
function answerOf({ artifacts, text }: TaskOutcome): string {
  const answer = artifacts.findLast(({ name }) => name === "answer");
  return answer?.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n") ?? text;
}

/** The answer in the form that was asked for. */
function dataOf({ artifacts }: TaskOutcome): Json | undefined {
  const part = artifacts.findLast(({ name }) => name === "answer")?.parts.find(({ type }) => type === "data");
  return part?.type === "data" ? part.data : undefined;
}
