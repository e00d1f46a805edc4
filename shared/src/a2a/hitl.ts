import type { Message } from "@a2a-js/sdk";
import * as z from "zod";
import { type Json, jsonOf } from "../core/json.ts";
import { textOf } from "../core/message.ts";
import type { TaskProjection } from "../runs/projection.ts";
import { hitlExtension } from "./extensions.ts";

/** The message of a task that waits for a person, in the form of the HITL extension as well. */
export function asking(message: Message, runId: string, projection: TaskProjection): Message {
  const request = hitlRequest(runId, projection);
  if (request === undefined) return message;
  return {
    ...message,
    extensions: [...message.extensions, hitlExtension],
    metadata: { ...message.metadata, [hitlExtension]: request },
  };
}

type HitlTool = { readonly id: string; readonly call_id: string; readonly name: string; readonly args: Json };

type HitlQuestion = { readonly question: string; readonly choices: readonly string[]; readonly multiple: boolean };

/**
 * A task's open question as the extension asks it. `nested` is the task of another agent that asks;
 * then the answer has the ids in there.
 */
type HitlRequest = {
  readonly nested?: {
    readonly subagent_name: string;
    readonly task_id: string;
    readonly context_id: string;
    readonly tools: readonly HitlTool[];
  };
} & (
  | { readonly type: "tool_approval_request"; readonly hint?: string; readonly tools: readonly HitlTool[] }
  | { readonly type: "ask_user_request"; readonly id: string; readonly questions: readonly HitlQuestion[] }
);

/**
 * The open question of a run: about the one call that waits for approval, or to be answered in
 * words. Undefined without one, and while somebody has to sign in.
 */
export function hitlRequest(runId: string, projection: TaskProjection): HitlRequest | undefined {
  const { question, approval } = projection;
  if (question === undefined || question === "authorization") return undefined;
  if (approval === undefined) return userRequest(runId, projection);
  const { id, callId, name, arguments: text, risk } = approval;
  const tools = [{ id, call_id: callId, name, args: argumentsOf(text) }];
  const nested = nestedIn(projection, tools);
  return {
    type: "tool_approval_request",
    ...(risk !== undefined && { hint: risk }),
    tools: nested === undefined ? tools : [askOf(projection)],
    ...(nested && { nested }),
  };
}

function userRequest(runId: string, projection: TaskProjection): HitlRequest {
  const asked = projection.history.findLast(({ role }) => role === "agent");
  const question = textOf(asked?.parts ?? []);
  const id = `${runId}/${asked?.seq ?? 0}`;
  const questions = [{ question, choices: [], multiple: false }];
  const nested = nestedIn(projection, [{ ...askOf(projection), id, name: "ask_user", args: { questions } }]);
  return { type: "ask_user_request", id, questions, ...(nested && { nested }) };
}

function nestedIn({ from }: TaskProjection, tools: readonly HitlTool[]): HitlRequest["nested"] {
  return from && { subagent_name: from.agent, task_id: from.taskId, context_id: from.contextId, tools };
}

/** The ask of another agent, as the call that waits for its task. */
function askOf({ asker = "", from }: TaskProjection): HitlTool {
  return { id: asker, call_id: asker, name: from?.agent ?? "", args: {} };
}

const argumentsObject = z.record(z.string(), z.json());

/** The extension wants an object; anything else is shown as it was written. */
function argumentsOf(text: string): Json {
  const parsed = argumentsObject.safeParse(text.trim() === "" ? {} : jsonOf(text));
  return parsed.success ? parsed.data : { arguments: text };
}

const id = z.string().min(1).max(1024);
const answer = z.string().max(64 * 1024);

/** A person's answer in the form of the extension. */
export const hitlResponse = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("tool_approval_response"),
    approvals: z
      .array(z.object({ id, approved: z.boolean(), rejection_reason: answer.nullish() }))
      .min(1)
      .max(100),
  }),
  z.object({
    type: z.literal("ask_user_response"),
    id,
    answers: z.array(z.object({ answer: z.array(answer).max(100) })).max(100),
  }),
]);

/** A person's answer, as the extension has it. */
export type HitlResponse = z.output<typeof hitlResponse>;

/** An answer in the words in which a person would have given it. */
export function wordsOf(response: HitlResponse): string {
  if (response.type === "ask_user_response") return response.answers.map((one) => one.answer.join(", ")).join("\n");
  return response.approvals
    .map(({ id: call, approved, rejection_reason: why }) => (approved ? `yes ${call}` : `no${why ? `: ${why}` : ""}`))
    .join("\n");
}

/** Why an answer does not answer the request; undefined if it does. */
export function mismatch(request: HitlRequest | undefined, response: HitlResponse): string | undefined {
  if (request === undefined) return "is an answer, but the task asks nothing now";
  if (request.type === "tool_approval_request") {
    if (response.type !== "tool_approval_response") return "must be a tool_approval_response";
    const decided = response.approvals.map((one) => one.id).sort();
    const asked = (request.nested ?? request).tools.map((one) => one.id).sort();
    return Bun.deepEquals(decided, asked) ? undefined : `must decide about ${asked.join(", ")}, once, and nothing else`;
  }
  if (response.type !== "ask_user_response") return "must be an ask_user_response";
  if (response.id !== request.id) return `must answer ${request.id}`;
  return response.answers.length === request.questions.length ? undefined : "must have one answer for each question";
}
