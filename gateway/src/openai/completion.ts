import { AppError } from "manyhands/internal/core/errors";
import type { RunView } from "manyhands/internal/runs/run-view";

/**
 * How an answer is told: as JSON alone, or as a text to which `written` says what of it was not
 * sent already.
 */
export type AnswerForm = { readonly json: boolean; readonly written?: (answer: string) => string };

/**
 * What a chat client is told of where a run got to: the answer with its files, or the question.
 * Throws what the run failed with.
 */
export function completionText(run: RunView, { json, written = (answer) => answer }: AnswerForm): string {
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

/** The body of a completion that is no stream. */
export function completion(run: RunView, model: string, form: AnswerForm) {
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
 * Tokens of everything the run used. Those of agents that do not tell apart what was read and what
 * was written count as prompt.
 */
export function usageOf({ usage: { tokens, outputTokens = 0 } }: Pick<RunView, "usage">) {
  return { prompt_tokens: tokens - outputTokens, completion_tokens: outputTokens, total_tokens: tokens };
}
