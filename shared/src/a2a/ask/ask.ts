import type { Task } from "@a2a-js/sdk";
import type { Part, UserMessage } from "../../core/message.ts";
import type { AgentInput, FlowSettings } from "../../core/runs/task.ts";
import type { TakenIn } from "../../core/taken-in.ts";
import { messageText } from "../client/task-update.ts";
import { type StateName, stateName } from "../task-state.ts";
import type { PeerAddress } from "./peers.ts";

/** What to ask another agent. */
export type AskRequest = {
  readonly agent: PeerAddress;
  /** The message. Files are references to our artifact store, 7 MB in total at most. */
  readonly parts: readonly Part[];
  /** The conversation at that agent to continue: the `contextId` of an earlier outcome. */
  readonly contextId?: string;
  /**
   * The task's spending limit and the schema of its answer. Agents of other systems may ignore
   * both.
   */
  readonly budget?: NonNullable<AgentInput["budget"]>;
  readonly outputSchema?: NonNullable<AgentInput["outputSchema"]>;
  /** Whether the agent's answer becomes the answer of the asking run. */
  readonly isAnswer?: boolean;
  /** Settings for an agent that is a flow. */
  readonly flow?: FlowSettings;
  /** The user's own words, kept apart from what the asking agent writes. */
  readonly said?: readonly string[];
  /** URLs in the message that the asking agent could have opened itself. */
  readonly given?: readonly string[];
  /** The sources whose content the asking task has taken in. */
  readonly takenIn?: TakenIn;
  /** How many agents the asking task has passed through. */
  readonly hops: number;
  /**
   * Milliseconds from the ask's start until its task is canceled, including the time people take to
   * answer. No deadline if omitted.
   */
  readonly deadlineMs?: number;
  /**
   * Milliseconds to retry an agent whose card cannot be read. Defaults to the patience for an agent
   * whose task is under way.
   */
  readonly resolveMs?: number;
  /**
   * Receives the user's messages that came before a question was asked. If omitted, they count as
   * the answer.
   */
  receiveMessages?(messages: readonly UserMessage[]): void;
  /**
   * Has the user's messages that come while the agent works sent on to its task, and receives each
   * that arrived there. If omitted, they wait.
   */
  passedOn?(message: UserMessage): void;
};

/** An ask under way: its request and what was recorded when it began. */
export type Ask = AskRequest & {
  readonly askId: string;
  readonly patienceMs: number;
  /** When the ask is given up, on the runs' clock. Milliseconds. */
  readonly endsAt: number | undefined;
};

/**
 * An agent as its card describes it. Recorded, so that a run does not change its behaviour when the
 * card changes.
 */
export type ResolvedAgent = { readonly title: string; readonly ours: boolean; readonly protocol: string };

/** The other agent's task. */
export type RemoteTask = ResolvedAgent & { readonly ask: Ask; readonly taskId: string; readonly contextId: string };

/** The state of a task at another agent. A submitted task counts as working. */
export type RemoteState = Exclude<StateName, "submitted">;

/** A question of the other agent; `id` distinguishes it from its others. */
export type RemoteQuestion = { readonly id: string; readonly text: string };

const longestQuestion = 8_000;

/** The state of a task; unknown states count as working. */
export function remoteState(task: Task): RemoteState {
  const name = stateName(task.status?.state);
  return name === "submitted" ? "working" : name;
}

/** Whether a task has ended. */
export function isOver(state: RemoteState): boolean {
  return state !== "working" && !waitsForPerson(state);
}

/** Whether a task waits for an answer or for authorization. */
export function waitsForPerson(state: RemoteState): boolean {
  return state === "input-required" || state === "auth-required";
}

/** The question in a task's status. */
export function remoteQuestion({ status }: Task): RemoteQuestion {
  const text = messageText(status?.message).slice(0, longestQuestion).toWellFormed();
  return { id: (status?.message?.messageId || `${status?.timestamp ?? ""} ${text}`).slice(0, 400), text };
}
