import { AppError, errorCodes } from "../../core/errors.ts";
import type { AskOutcome, AskState, Exchange, Fault } from "../../core/events/ask-outcome.ts";
import type { JournalEvent } from "../../core/events/events.ts";
import type { Run } from "../../core/runs/run.ts";
import { withinSpan } from "../../core/trace.ts";
import type { Ask, AskRequest, RemoteTask, ResolvedAgent } from "./ask.ts";
import { isOver } from "./ask.ts";
import { type Attempt, faultOf, retryDurably } from "./attempt.ts";
import { beginAsk, resolveAgain } from "./begin-ask.ts";
import type { OpenAsk } from "./cancel-remote-tasks.ts";
import { cancelGivenUp } from "./cancel-remote-tasks.ts";
import { type Collected, collect } from "./collect.ts";
import { type Followed, followRemoteTask, type Seen, untilEvent } from "./follow-remote-task.ts";
import { passMessages } from "./pass-messages.ts";
import { madeCalls, noCalls, type PeerCalls, withSeen } from "./peer-calls.ts";
import type { Peers } from "./peers.ts";
import { relayQuestion } from "./relay-question.ts";
import { sendAsk } from "./send-ask.ts";

/**
 * How a conversation with another agent ended. With `open`, it was given up here and its task may
 * still be running there.
 */
type Ending = { readonly outcome: AskOutcome; readonly open?: OpenAsk };

/**
 * Asks another agent over A2A and waits for the outcome, in steps that each end by themselves:
 * begin (its card, the intent), send, follow, collect. Rejects only if the run is cancelled, if its
 * branch is aborted, or on a bug; an agent that is unreachable, fails, refuses or takes too long is
 * an outcome with its cause.
 *
 * Guaranteed, whichever process is killed and when: an agent of ours receives the message as one
 * task and answers once, a finished step is not repeated, and the deadline counts from the recorded
 * start. For any other agent, a send whose process died is not repeated but reported as
 * `interrupted`. A task given up here is canceled there. An aborted ask cannot cancel its own task:
 * `cancelOpen` does it after an aborted branch, `cancellingChildren` at the end of every run,
 * `engineCancellingChildren` for a canceled run. Not guaranteed: finding a task that an agent of
 * another system started if its answer never arrived.
 */
export async function askAgent(run: Run, request: AskRequest, peers: Peers): Promise<AskOutcome> {
  const end = peers.underWay.begin(run.id);
  const { outcome, left } = await converse(run, request, peers.actingFor(run.principal));
  if (!left) end();
  return outcome;
}

/** One complete ask; `left` if its task may still be running. */
async function converse(run: Run, request: AskRequest, peers: Peers): Promise<{ outcome: AskOutcome; left: boolean }> {
  const { ask, ...begun } = await beginAsk(run, request, peers);
  if (begun.refused !== undefined) return answered(run, ask, failed(ask, begun.refused));
  const exchanges: Exchange[] = [];
  const ending = await withinSpan([ask.askId], () => attend(run, ask, begun.resolved, exchanges, peers));
  const { open } = ending;
  const outcome = { ...ending.outcome, ...(exchanges.length > 0 && { exchanges }) };
  if (open === undefined) return answered(run, ask, outcome);
  const { done, usage } = await cancelGivenUp(run, open, peers);
  return answered(run, ask, { ...outcome, ...(usage !== undefined && { usage }) }, !done);
}

/** The conversation and the questions relayed to a person in it, until it ends or is given up. */
async function attend(
  run: Run,
  ask: Ask,
  first: Attempt<ResolvedAgent> | undefined,
  exchanges: Exchange[],
  peers: Peers,
): Promise<Ending> {
  let remote: RemoteTask | undefined;
  try {
    const resolved = first !== undefined && "value" in first ? first : await resolveAgain(run, ask, peers);
    if ("fault" in resolved) return { outcome: given(ask, resolved) };
    const sent = await sendAsk(run, ask, resolved.value, peers);
    // A message whose answer was lost may have been delivered.
    if ("fault" in sent) return { outcome: given(ask, sent), ...(mayPass(sent.fault) && { open: openAsk(ask) }) };
    const { reply, ...ids } = sent.value;
    if (reply !== undefined)
      return { outcome: { agent: ask.agent.name, ...ids, ...reply, ...memory(resolved.value, reply) } };
    remote = { ...resolved.value, ...ids, ask };
    return await seeThrough(run, remote, exchanges, peers);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (remote !== undefined) return givenUp(remote, failed(ask, faultOf(error)));
    return { outcome: failed(ask, faultOf(error)) };
  }
}

/** Follows the agent's task until it ends or is given up. */
async function seeThrough(run: Run, asked: RemoteTask, exchanges: Exchange[], peers: Peers): Promise<Ending> {
  const messages = passMessages(run, asked, peers);
  const { remote } = messages;
  const { ask } = remote;
  let from: Followed = { after: 0, told: 0 };
  let calls = noCalls;
  for (let questions = 0; ; ) {
    const seen = await messages.during((own) =>
      retryDurably(own, ask, peers, () => followRemoteTask(own, remote, from, peers)),
    );
    if (seen === undefined) continue;
    if (ask.endsAt !== undefined && seen.at >= ask.endsAt && !isEnd(seen)) return givenUp(remote, timedOut(ask));
    if ("fault" in seen) return givenUp(remote, failed(ask, seen.fault));
    const { state, question, result, waits, calls: more, ...followed } = seen.value;
    from = followed;
    calls = withSeen(calls, more);
    if (waits) await messages.during((own) => untilEvent(own, remote, seen.at, peers));
    if (state === "working") continue;
    // Runs recorded before authorization requests were relayed gave the task up here.
    if (state === "auth-required" && question === undefined) return givenUp(remote, failed(ask, unauthorized(remote)));
    if (question === undefined) return finish(run, remote, { result, calls }, peers);
    const relayed = await relayQuestion(run, remote, question, { n: ++questions, at: seen.at }, peers);
    if (relayed === undefined) return givenUp(remote, timedOut(ask));
    const { exchange, told } = relayed;
    exchanges.push(exchange);
    if ("fault" in told) {
      // The task may have ended while the person was thinking: it timed out, or somebody answered
      // it directly.
      const now = await followRemoteTask(run, remote, from, peers);
      return isEnd(now)
        ? finish(run, remote, { result: undefined, calls }, peers)
        : givenUp(remote, failed(ask, told.fault));
    }
    from = { ...from, answered: question.id };
    await messages.passHeld();
  }
}

async function finish(
  run: Run,
  remote: RemoteTask,
  { result, calls }: { readonly result: Collected | undefined; readonly calls: PeerCalls },
  peers: Peers,
): Promise<Ending> {
  const { ask } = remote;
  const collected = result === undefined ? await collect(run, remote, peers) : { value: result };
  if ("fault" in collected) return { outcome: { ...failed(ask, collected.fault), ...idsOf(remote) } };
  const { value } = collected;
  const made = remote.ours ? { made: madeCalls(calls) } : {};
  return { outcome: { agent: ask.agent.name, ...idsOf(remote), ...value, ...made, ...memory(remote, value) } };
}

/**
 * Whether a later message may leave out what this one said: an agent of ours, as its card says,
 * reads the tasks of a conversation that have ended. One that claims it wrongly misleads itself.
 */
function memory({ ours }: ResolvedAgent, { state }: Collected): Pick<AskOutcome, "remembers"> {
  return ours && (state === "completed" || state === "failed") ? { remembers: true } : {};
}

function mayPass({ code }: Fault): boolean {
  return errorCodes[code].retryable;
}

function isEnd(seen: Attempt<Seen>): boolean {
  return "value" in seen && isOver(seen.value.state);
}

function unauthorized({ title }: RemoteTask): Fault {
  return { code: "unauthorized", message: `${title} wanted to be authorized for something.` };
}

function givenUp(remote: RemoteTask, outcome: AskOutcome): Ending {
  return { outcome: { ...outcome, ...idsOf(remote) }, open: { ...openAsk(remote.ask), taskId: remote.taskId } };
}

function openAsk({ askId, agent, contextId }: Ask): OpenAsk {
  return { askId, agent, ...(contextId !== undefined && { contextId }) };
}

/** The outcome of an ask that never got a task. */
function given(ask: Ask, { fault, at }: { readonly fault: Fault; readonly at: number }): AskOutcome {
  return ask.endsAt !== undefined && at >= ask.endsAt ? timedOut(ask) : failed(ask, fault);
}

function timedOut(ask: Ask): AskOutcome {
  const message = `${ask.agent.name} did not answer within ${Math.round((ask.deadlineMs ?? 0) / 100) / 10} s.`;
  return without(ask, "timed-out", { code: "timeout", message });
}

function failed(ask: Ask, error: Fault): AskOutcome {
  return without(ask, "failed", error);
}

function without({ agent }: Ask, state: AskState, error: Fault): AskOutcome {
  return { agent: agent.name, taskId: "", contextId: "", state, answer: "", files: [], error };
}

function idsOf({ taskId, contextId }: RemoteTask): Pick<AskOutcome, "taskId" | "contextId"> {
  return { taskId, contextId };
}

function answered(run: Run, { askId, agent }: Ask, outcome: AskOutcome, left = false) {
  const { state, files, usage, error } = outcome;
  run.emit({
    type: "agent-answered",
    askId,
    agent: agent.name,
    state,
    files,
    ...(usage !== undefined && { usage }),
    ...(error !== undefined && { error }),
    ...(left && { left }),
  } satisfies JournalEvent);
  return { outcome, left };
}
