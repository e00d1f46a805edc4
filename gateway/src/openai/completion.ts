import { AppError } from "manyhands/internal/core/errors";
import type { RunView } from "manyhands/internal/runs/run-view";

/**
 * The form of an answer: only JSON, or a text, of which `written` returns the part not sent yet.
 */
export type CompletionForm = { readonly json: boolean; readonly written?: (answer: string) => string };

/**
 * The content of a completion: the answer with its files, or the question. Throws the run's error.
 */
export function completionText(run: RunView, { json, written = (answer) => answer }: CompletionForm): string {
  switch (run.status) {
    case "completed":
      if (json && run.data !== undefined) return JSON.stringify(run.data);
      return [written(run.answer ?? ""), ...filesOf(run)].join("\n").trimEnd();
    case "input-required":
    case "auth-required":
      return run.question ?? "";
    case "failed":
      throw new AppError(run.error?.code ?? "task_failed", run.error?.message ?? "The run failed.");
    case "canceled":
      throw new AppError("task_failed", "The run was canceled.");
    default:
      throw new AppError("unavailable", `The run ${run.id} is ${run.status}; /runs/${run.id} shows it.`);
  }
}

function filesOf({ files }: RunView): string[] {
  if (files.length === 0) return [];
  return ["", ...files.map(({ name, url, size }) => `- [${name.replaceAll(/[[\]]/g, "")}](${url}) (${size} bytes)`)];
}

/** The body of a completion without streaming. */
export function completion(run: RunView, model: string, form: CompletionForm) {
  return {
    id: `chatcmpl-${run.id}`,
    object: "chat.completion",
    created: Math.floor(Date.parse(run.createdAt) / 1000),
    model,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: completionText(run, form), refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: usageOf(run),
  };
}

/**
 * The tokens the run used. For agents that report only a total, it counts as prompt tokens.
 */
export function usageOf({ usage: { tokens, outputTokens = 0 } }: Pick<RunView, "usage">) {
  return { prompt_tokens: tokens - outputTokens, completion_tokens: outputTokens, total_tokens: tokens };
}
