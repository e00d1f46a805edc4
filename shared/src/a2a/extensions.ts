import { flowSettingsKey } from "../core/runs/task.ts";

/**
 * The A2A extension for streams that carry the run's journal. A client that activates it
 * (`A2A-Extensions`) gets each event under `event` and live progress under `progress` in the
 * metadata of status updates; others get short status texts only.
 */
export const journalExtension = "urn:manyhands:journal:1";

/**
 * The A2A extension whose card parameters state the agent's name, its model and how its commands
 * are confined.
 */
export const agentExtension = "urn:manyhands:agent:1";

/**
 * The A2A extension that cancels a message whose delivery is unknown. CancelTask with the message's
 * id under `messageId` in the metadata cancels the message's task; if the message arrives later, it
 * starts no task. The request's own `id` is ignored.
 */
export const cancelMessageExtension = "urn:manyhands:cancel-message:1";

/**
 * The A2A extension of the extended card whose parameters state the caller's principal and its
 * scopes.
 */
export const callerExtension = "urn:manyhands:caller:1";

/**
 * The A2A extension for callers whose messageIds are unique. For a client that activates it, a
 * repeated message is the same task for ever, not only within the time that the server sets for
 * other clients.
 */
export const dedupeExtension = "urn:manyhands:dedupe:1";

/**
 * The A2A extension for tasks that report what they use: a TaskUsage under `usage` in the metadata
 * of tasks, of stream events, and of a Message that is an answer.
 */
export const usageExtension = "urn:manyhands:usage:1";

/**
 * The A2A extension for callers that bound what a task may spend, under `budget` in the request.
 */
export const budgetExtension = "urn:manyhands:budget:1";

/**
 * kagent's A2A extension for questions to a person in a fixed form: a message that asks, and one
 * that answers, has it under this URI in its metadata.
 */
export const hitlExtension = "https://kagent.dev/extensions/hitl/v1";

/** This system's keys in A2A metadata. All other keys belong to others and pass through as data. */
export const metadataKeys = {
  /** On a Task and on every stored stream event: the journal's sequence number. */
  seq: "manyhands/seq",
  /** On a Task and on every stored stream event: the task's usage so far, a TaskUsage. */
  usage: "manyhands/usage",
  /** On a status update, with the journal extension: `{ at, event }`. */
  event: "manyhands/event",
  /** On a status update that is not stored, with the journal extension: a Progress. */
  progress: "manyhands/progress",
  /** On the status message of a task that failed: `{ code, message }`. */
  error: "manyhands/error",
  /** On a part that is a stored file: `{ sha256, size }`. */
  file: "manyhands/file",
  /** On a SendMessage request: what the caller allows the task to spend. */
  budget: "manyhands/budget",
  /** On a SendMessage request: a JSON Schema for the answer, which then has a data part. */
  outputSchema: "manyhands/outputSchema",
  /**
   * On a SendMessage request from another agent: the user's own words, kept apart from that
   * agent's.
   */
  said: "manyhands/said",
  /** On such a request: URLs in the message that the asking agent could have opened itself. */
  given: "manyhands/given",
  /**
   * On such a request: the names of the sources whose content the asking task has taken in. On a
   * Task: the sources it had taken in when it answered.
   */
  takenIn: "manyhands/takenIn",
  /**
   * On a SendMessage request with `returnImmediately`: milliseconds to wait for the task to end
   * before returning; with the journal extension the wait ends early if the task reports something.
   */
  wait: "manyhands/wait",
  /**
   * On a CancelTask request: the id of the message whose task to cancel. Neither message nor task
   * has to exist yet.
   */
  messageId: "manyhands/messageId",
  /**
   * On the message that starts a flow: `{ agents?, options? }`, the agents that work in it and its
   * options.
   */
  flow: flowSettingsKey,
  /**
   * On a SendMessage request to a task: `false` if the message answers no question, so that it is
   * refused while one is open.
   */
  answers: "manyhands/answers",
  /** On a SendMessage request: how many agents the task has passed through. */
  hops: "manyhands/hops",
} as const;

/** The most URLs a request may give. */
export const maxGiven = 100;
