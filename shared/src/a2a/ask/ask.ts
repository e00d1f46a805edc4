import type { Task } from "@a2a-js/sdk";
import type { Part, UserMessage } from "../../core/message.ts";
import type { TakenIn } from "../../core/taken-in.ts";
import type { AgentInput, FlowSettings } from "../../core/task.ts";
import { messageText } from "../client/task-update.ts";
import { type StateName, stateName } from "../task-state.ts";
import type { PeerAddress } from "./peers.ts";

/** What another agent is asked. */
export type AskRequest = {
  readonly agent: PeerAddress;
  /** The message, files by reference to our artifact store: 7 MB of them at most. */
  readonly parts: readonly Part[];
  /** A conversation at that agent to go on in: the `contextId` of an earlier outcome. */
  readonly contextId?: string;
  /**
   * What its task may spend, and the form its answer has to fit; agents that are not of ours may
   * not keep to either.
   */
  readonly budget?: NonNullable<AgentInput["budget"]>;
  readonly outputSchema?: NonNullable<AgentInput["outputSchema"]>;
  /** Whether its answer becomes that of the asking run. */
  readonly isAnswer?: boolean;
  /** What is set for an agent that is a flow. */
  readonly flow?: FlowSettings;
  /** What the user said, apart from what the asking agent writes. */
  readonly said?: readonly string[];
  /** Addresses in the message that the asking agent was free to open itself. */
  readonly given?: readonly string[];
  /** What the asking task has taken in. */
  readonly takenIn?: TakenIn;
  /** How many agents the asking task has passed through. */
  readonly hops: number;
  /**
   * Milliseconds from the ask's start after which its task is canceled; the time people take to
   * answer counts. None when left out.
   */
  readonly deadlineMs?: number;
  /**
   * Milliseconds an agent that cannot be met at all is tried; as long as one whose task is under
   * way when left out.
   */
  readonly resolveMs?: number;
  /** Gets what a person said before a question was asked; left out, that is the answer. */
  receiveMessages?(messages: readonly UserMessage[]): void;
};

/** An ask under way: its request, and what was recorded when it began. */
export type Ask = AskRequest & {
  readonly askId: string;
  readonly patienceMs: number;
  /** When it is given up, on the clock of runs. Milliseconds. */
  readonly endsAt: number | undefined;
};

/**
 * An agent that was met, as its card tells it; recorded, so that a run does not change its ways
 * when the card does.
 */
export type ResolvedAgent = { readonly title: string; readonly ours: boolean; readonly protocol: string };

/** The other agent's task. */
export type RemoteTask = ResolvedAgent & { readonly ask: Ask; readonly taskId: string; readonly contextId: string };

/** Where a task at another agent stands. One that was only submitted is work that goes on. */
export type ChildState = Exclude<StateName, "submitted">;

/** A question of the other agent; `id` tells it from its other ones. */
export type ChildQuestion = { readonly id: string; readonly text: string };

const longestQuestion = 8_000;

/** The state of a task; one this side does not know is work that goes on. */
export function childState(task: Task): ChildState {
  const name = stateName(task.status?.state);
  return name === "submitted" ? "working" : name;
}

/** Whether a task has ended. */
export function isOver(state: ChildState): boolean {
  return state !== "working" && !waitsForPerson(state);
}

/** Whether a task asks something, or to be authorized for something. */
export function waitsForPerson(state: ChildState): boolean {
  return state === "input-required" || state === "auth-required";
}

/** What a task asks, as its status tells. */
export function childQuestion({ status }: Task): ChildQuestion {
  const text = messageText(status?.message).slice(0, longestQuestion).toWellFormed();
  return { id: (status?.message?.messageId || `${status?.timestamp ?? ""} ${text}`).slice(0, 400), text };
}
