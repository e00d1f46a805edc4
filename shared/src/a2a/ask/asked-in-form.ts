import type { Message } from "@a2a-js/sdk";
import * as z from "zod";
import type { EventOf } from "../../core/events/events.ts";
import { textOf } from "../../core/message.ts";
import type { Run } from "../../core/runs/run.ts";
import { approvalCode, askApproval, type ProposedCall } from "../../core/tools/approval.ts";
import { askPerson } from "../../core/tools/question.ts";
import { hitlExtension } from "../extensions.ts";
import type { HitlResponse } from "../hitl.ts";

/**
 * What an agent of another system asks in the form of the HITL extension: about each of its calls,
 * or some questions. The ids are those its answer has to have.
 */
export type AskedInForm =
  | { readonly type: "approvals"; readonly calls: readonly ProposedCall[] }
  | { readonly type: "questions"; readonly id: string; readonly questions: readonly FormQuestion[] };

type FormQuestion = { readonly question: string; readonly choices: readonly string[]; readonly multiple: boolean };

const most = 20;
const id = z.string().min(1).max(1024);
const text = z.string().max(8_000);
const tool = z.object({ id, call_id: id, name: z.string().min(1).max(200), args: z.json().default({}) });
const tools = z.array(tool).min(1).max(most);
const nested = z.object({ tools }).nullish();
const request = z.discriminatedUnion("type", [
  z.object({ type: z.literal("tool_approval_request"), hint: text.nullish(), tools, nested }),
  z.object({
    type: z.literal("ask_user_request"),
    id,
    questions: z
      .array(
        z.object({ question: text, choices: z.array(text).max(100).default([]), multiple: z.boolean().default(false) }),
      )
      .min(1)
      .max(most),
    nested,
  }),
]);

/** Arguments that a person cannot read whole are not put to a person. */
const longestArguments = 16_000;

/**
 * The request in a status message, if it is whole and one that a person can decide about; undefined
 * otherwise, and the message's text is all that is asked.
 */
export function askedInForm(message: Message | undefined): AskedInForm | undefined {
  if (message?.extensions.includes(hitlExtension) !== true) return undefined;
  const { data } = request.safeParse(message.metadata?.[hitlExtension]);
  if (data === undefined) return undefined;
  if (data.type === "ask_user_request")
    return { type: "questions", id: data.nested?.tools[0]?.id ?? data.id, questions: data.questions };
  const asked = (data.nested ?? data).tools;
  const calls = asked.map(({ id, name, args }) => ({
    id,
    name,
    arguments: JSON.stringify(args ?? {}),
    ...(data.hint && { risk: data.hint }),
  }));
  const isReadable = calls.every((call) => call.arguments.length <= longestArguments);
  return isReadable && new Set(calls.map((call) => call.id)).size === calls.length
    ? { type: "approvals", calls }
    : undefined;
}

/** A person's answer: what they said, for the record, and the same in the form. */
export type AnsweredInForm = { readonly said: string; readonly response: HitlResponse };

/** Another agent's task that asks, in the journal of the run that asks for it. */
type Asker = { readonly askId: string; readonly from: NonNullable<EventOf<"question-asked">["from"]> };

/**
 * Puts each call or question to a person, one after the other. Undefined if not all were answered
 * within `timeoutMs`.
 */
export async function answerInForm(
  run: Run,
  title: string,
  asked: AskedInForm,
  asker: Asker,
  timeoutMs: number | undefined,
): Promise<AnsweredInForm | undefined> {
  const head = `${title} asks:\n\n`;
  const answered = (own: Run) =>
    asked.type === "approvals" ? decide(own, head, asked.calls, asker) : answer(own, head, asked, asker);
  if (timeoutMs === undefined) return answered(run);
  const late = (own: Run) => own.sleep(timeoutMs).then(() => null);
  return (await run.race<AnsweredInForm | null>([answered, late])) ?? undefined;
}

async function decide(run: Run, head: string, calls: readonly ProposedCall[], asker: Asker): Promise<AnsweredInForm> {
  const words: string[] = [];
  const approvals: { id: string; approved: boolean; rejection_reason?: string }[] = [];
  for (const call of calls) {
    const decision = await askApproval(run, call, approvalCode(asker.askId, call), { ...asker, head });
    const { allowed, said } = decision ?? { allowed: false, said: "" };
    const reason = said.replace(/^no\b[:,.]?\s*/i, "");
    words.push(said);
    approvals.push({ id: call.id, approved: allowed, ...(!allowed && reason !== "" && { rejection_reason: reason }) });
  }
  return { said: words.join("\n"), response: { type: "tool_approval_response", approvals } };
}

async function answer(
  run: Run,
  head: string,
  { id, questions }: Extract<AskedInForm, { type: "questions" }>,
  asker: Asker,
): Promise<AnsweredInForm> {
  const words: string[] = [];
  for (const one of questions) {
    const given = await askPerson(run, { question: `${head}${questionText(one)}`, kind: "question", ...asker });
    words.push(given === undefined ? "" : textOf(given.parts));
  }
  const answers = questions.map(({ multiple }, n) => ({
    answer: multiple ? (words[n] ?? "").split(",").map((one) => one.trim()) : [words[n] ?? ""],
  }));
  return { said: words.join("\n"), response: { type: "ask_user_response", id, answers } };
}

function questionText({ question, choices, multiple }: FormQuestion): string {
  if (choices.length === 0) return question;
  const how = multiple ? "Name any of them, separated by commas" : "Name one of them";
  return `${question}\n\n${choices.map((choice) => `- ${choice}`).join("\n")}\n\n${how}, or answer in your own words.`;
}
