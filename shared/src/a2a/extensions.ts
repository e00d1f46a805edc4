import { flowSettingsKey } from "../core/task.ts";

/**
 * The A2A extension for streams that carry the run's journal. A client that activates it
 * (`A2A-Extensions`) gets each event under `event` and live progress under `progress` in the
 * metadata of status updates; others get short status texts only.
 */
export const journalExtension = "urn:manyhands:journal:1";

/**
 * The A2A extension whose parameters in the card are the agent's name, its model and how its
 * commands are confined.
 */
export const agentExtension = "urn:manyhands:agent:1";

/**
 * The A2A extension that cancels a message which may have been lost: CancelTask with the message's
 * id under `messageId` in the metadata cancels its task or, if the message arrives later, lets it
 * start none. The request's own `id` is ignored.
 */
export const cancelMessageExtension = "urn:manyhands:cancel-message:1";

/** This system's keys in A2A metadata; all other keys belong to others and pass through as data. */
export const metadataKeys = {
  /** On a Task and on every stored stream event: the journal's sequence number. */
  seq: "manyhands/seq",
  /** On a Task and on every stored stream event: what the task has used so far, a TaskUsage. */
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
  /** On a SendMessage request of another agent: the user's own words, apart from that agent's. */
  said: "manyhands/said",
  /** On such a request: addresses in the message that the asking agent was free to open itself. */
  given: "manyhands/given",
  /**
   * On such a request: what the asking task has taken in, an array of names. On a Task: what it had
   * taken in when it answered.
   */
  takenIn: "manyhands/takenIn",
  /**
   * On a SendMessage request with `returnImmediately`: milliseconds to wait for the task's end all
   * the same, unless the task reports something before.
   */
  wait: "manyhands/wait",
  /**
   * On a CancelTask request: the id of the message whose task to cancel; neither need exist yet.
   */
  messageId: "manyhands/messageId",
  /** On the message that starts a flow: `{ agents?, options? }`, which agents work, and how. */
  flow: flowSettingsKey,
  /** On a SendMessage request: how many agents the task has passed through. */
  hops: "manyhands/hops",
} as const;

/** How many addresses a request may give. */
export const mostGiven = 100;
