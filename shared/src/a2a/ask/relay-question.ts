import type { Exchange } from "../../core/events/ask-outcome.ts";
import { messageSignal, type UserMessage } from "../../core/message.ts";
import type { Run } from "../../core/runs/run.ts";
import { askPerson } from "../../core/tools/question.ts";
import type { RemoteTask } from "./ask.ts";
import { answerInForm } from "./asked-in-form.ts";
import type { Attempt } from "./attempt.ts";
import type { Seen } from "./follow-remote-task.ts";
import type { Peers } from "./peers.ts";
import { sendAnswer } from "./send-ask.ts";

const questionLockMs = 30_000;

/**
 * Asks the person another agent's question, in the agent's words and under its name, one question
 * of a run at a time, and sends the agent the answer; `told` says whether it was delivered.
 * Undefined if nobody answered before the ask's deadline.
 */
export async function relayQuestion(
  run: Run,
  remote: RemoteTask,
  question: NonNullable<Seen["question"]>,
  { n, at }: { readonly n: number; readonly at: number },
  peers: Peers,
): Promise<{ readonly exchange: Exchange; readonly told: Attempt<null> } | undefined> {
  const { ask, title } = remote;
  const begun = await takeQuestionLock(run, remote, at, peers);
  if (begun === undefined) return undefined;
  try {
    if (ask.receiveMessages !== undefined) ask.receiveMessages(await run.poll<UserMessage>(messageSignal));
    const left = ask.endsAt === undefined ? undefined : Math.max(0, ask.endsAt - begun);
    const { kind, approval, form } = question;
    const from = { agent: ask.agent.name, taskId: remote.taskId, contextId: remote.contextId };
    if (form !== undefined) {
      const answered = await answerInForm(run, title, form, { askId: ask.askId, from }, left);
      if (answered === undefined) return undefined;
      const parts = [{ type: "text" as const, text: answered.said }];
      const exchange = { kind, question: question.text, answer: parts };
      return { exchange, told: await sendAnswer(run, remote, n, { parts, hitl: answered.response }, peers) };
    }
    const asked = { question: inWords(title, question), kind, askId: ask.askId, from, ...(approval && { approval }) };
    const answer = await askPerson(run, asked, left);
    if (answer === undefined) return undefined;
    const exchange = { kind: question.kind, question: question.text, answer: answer.parts };
    return { exchange, told: await sendAnswer(run, remote, n, answer, peers) };
  } finally {
    peers.questionLock.leave(run.id, ask.askId);
  }
}

function inWords(title: string, { kind, text }: NonNullable<Seen["question"]>): string {
  if (kind !== "authorization") return `${title} asks:\n\n${text}`;
  const what = text === "" ? "It does not say for what." : text;
  return `${title} wants to be authorized before it goes on. Do what it needs, then answer here; what you answer is sent to it.\n\n${what}`;
}

/**
 * Waits for the question lock. Returns the time it was taken, on the runs' clock, or undefined
 * after the ask's deadline.
 */
async function takeQuestionLock(
  run: Run,
  { ask }: RemoteTask,
  since: number,
  { questionLock }: Peers,
): Promise<number | undefined> {
  for (let at = since; ask.endsAt === undefined || at < ask.endsAt; ) {
    const waitMs = Math.min(questionLockMs, (ask.endsAt ?? Number.POSITIVE_INFINITY) - at);
    const turn = await run.step(
      "take the floor",
      async ({ signal, now }) => ({
        taken: await questionLock.take(run.id, ask.askId, waitMs, signal),
        at: now(),
      }),
      { effect: "pure" },
    );
    at = turn.at;
    if (!turn.taken) continue;
    questionLock.hold(run.id, ask.askId);
    return at;
  }
  return undefined;
}
