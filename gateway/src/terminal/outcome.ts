import { join, relative } from "node:path";
import type { Json } from "manyhands/internal/core/json";
import { textOf } from "manyhands/internal/core/message";
import type { FileSource } from "../tasks/agent-client.ts";
import { saveFiles } from "../tasks/save-files.ts";
import { summaryText } from "./render.ts";
import type { TaskOutcome } from "./render-task.ts";
import { safeJson, safeText } from "./safe-text.ts";
import { paint } from "./style.ts";
import type { Terminal } from "./terminal.ts";
import { plainTotals, sizeText } from "./totals.ts";

/** The words for each state of a task. */
const marks = {
  completed: ["green", "✓ completed"],
  failed: ["red", "✗ failed"],
  canceled: ["yellow", "■ canceled"],
  rejected: ["red", "✗ rejected"],
  "input-required": ["yellow", "? waiting for an answer"],
  "auth-required": ["yellow", "? waiting for authorization"],
  submitted: ["yellow", "… waiting to start"],
  working: ["yellow", "… still running"],
  paused: ["yellow", "‖ paused"],
} as const;

/**
 * Prints a task's outcome: state, time, tokens, cost, the cause of a failure, and its files, which
 * it saves in `manyhands-out/<task>/` in the working directory.
 */
export async function tellOutcome(
  outcome: TaskOutcome,
  context: { readonly cwd: string; readonly terminal: Terminal },
  options: { readonly source: FileSource; readonly json?: boolean | undefined },
): Promise<void> {
  const { terminal, cwd } = context;
  // The id is the agent's to choose: no folder above, nor a hidden one.
  const folder = join(cwd, "manyhands-out", outcome.taskId.replace(/[^\w.-]/g, "_").replace(/^\.+/, "_"));
  const files = await saveFiles(outcome.artifacts, folder, options.source, { signal: AbortSignal.timeout(120_000) });
  if (options.json) {
    const { taskId, contextId, state, code, view } = outcome;
    const data = dataOf(outcome);
    const answer = {
      ...(code !== undefined && { code }),
      text: answerOf(outcome),
      ...(data !== undefined && { data }),
    };
    const result = { kind: "result", taskId, contextId, state, ...answer, files, totals: plainTotals(view.totals) };
    terminal.out(`${safeJson(result)}\n`);
    return;
  }
  const { code = outcome.state } = outcome;
  const [color, words] = marks[outcome.state];
  const named = code === outcome.state ? words : `${words}, ${safeText(code)}`;
  const lines = [`${paint(terminal.style, color, named)}  ${summaryText(outcome.view)}`];
  if (causes.has(outcome.state) && outcome.text !== "") lines.push(safeText(outcome.text).replace(/^/gm, "  "));
  if (files.length > 0)
    lines.push(
      `Files in ${safeText(folder)}`,
      ...files.map(({ path, bytes }) => `  ${safeText(relative(folder, path))}  ${sizeText(bytes)}`),
    );
  terminal.out(`\n${lines.join("\n")}\n`);
}

/** States whose text is their cause. */
const causes: ReadonlySet<TaskOutcome["state"]> = new Set(["failed", "canceled", "rejected", "paused"]);

/** The final answer, or else the agent's last words. */
function answerOf({ artifacts, text }: TaskOutcome): string {
  const answer = artifacts.findLast(({ name }) => name === "answer");
  return answer === undefined ? text : textOf(answer.parts);
}

/** The answer in the requested form. */
function dataOf({ artifacts }: TaskOutcome): Json | undefined {
  const part = artifacts.findLast(({ name }) => name === "answer")?.parts.find(({ type }) => type === "data");
  return part?.type === "data" ? part.data : undefined;
}
