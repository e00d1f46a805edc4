import type { Json } from "manyhands/internal/core/json";
import type { Part } from "manyhands/internal/core/message";
import type { FlowSettings } from "manyhands/internal/core/runs/task";
import type { ShownState, TaskItem } from "./task-item.ts";

/**
 * What an agent's card says of it. Undefined where the card does not say: it may be anyone's agent.
 */
export type AgentFacts = {
  readonly title: string;
  readonly model: { readonly name: string; readonly provider: string } | undefined;
  readonly sandbox: string | undefined;
};

/** A file that goes along with a message. */
export type OutgoingFile = { readonly name: string; readonly mediaType: string; readonly bytes: Uint8Array };

/**
 * A message to an agent. With `taskId` it belongs to a task that waits for it, with `contextId` to
 * a conversation.
 */
export type OutgoingMessage = {
  readonly text: string;
  readonly files?: readonly OutgoingFile[];
  /** What is set for a flow. */
  readonly flow?: FlowSettings;
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
  readonly budgetUsd?: number | undefined;
  /** A JSON Schema the answer has to fit. */
  readonly outputSchema?: { readonly [keyword: string]: Json } | undefined;
};

/**
 * A task in a list. `title` is the beginning of what was asked; `of` whose it is, where a list has
 * those of several.
 */
export type TaskSummary = {
  readonly id: string;
  readonly of?: string;
  readonly contextId: string;
  readonly state: ShownState;
  readonly updatedAt: number;
  readonly title: string;
};

/**
 * A part of an artifact that is a file: one the agent keeps by content hash, or one somewhere at a
 * URL.
 */
export type FilePart = Extract<Part, { type: "file" | "url" }>;

/** Where the files of artifacts are read from. */
export interface FileSource {
  /**
   * The content of a file. Rejects with `not_found` or `unavailable`, or with the signal's reason.
   */
  file(part: FilePart, options: { readonly signal: AbortSignal }): Promise<Uint8Array>;
}

/** Where tasks are listed. */
export interface TaskList {
  /** Newest first. */
  list(options: { readonly limit: number; readonly signal: AbortSignal }): Promise<readonly TaskSummary[]>;
}

/**
 * An agent, as the command line talks to it. Rejects with an AppError, or with the signal's reason.
 * A stream ends when the task ends or waits for someone, and survives lost connections inside.
 */
export interface AgentClient extends FileSource, TaskList {
  readonly url: string;
  readonly facts: AgentFacts;
  send(message: OutgoingMessage, options: { readonly signal: AbortSignal }): AsyncIterable<TaskItem>;
  /** What happens in a task from now on, until its end. */
  watch(taskId: string, options: { readonly signal: AbortSignal }): AsyncIterable<TaskItem>;
  cancel(taskId: string, options: { readonly signal: AbortSignal }): Promise<void>;
}
