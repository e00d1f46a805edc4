import { flowSettingsKey } from "../core/task.ts";

/**
 * The A2A extension under which streams carry the run's journal. A client that activates it
 * (`A2A-Extensions`) gets in the metadata of each status update the event itself under `event`, and
 * live progress under `progress`; others get short readable status texts only.
 */
export const journalExtension = "urn:manyhands:journal:1";

/**
 * The A2A extension whose parameters in the card tell the agent's name, its model and how its
 * commands are confined.
 */
export const agentExtension = "urn:manyhands:agent:1";

/**
 * The A2A extension by which a message that may have been lost is canceled: CancelTask with its id
 * under `messageId` in the metadata cancels the task it began, or has it begin none, whenever it
 * comes. The request's own `id` is not looked at then.
 */
export const cancelMessageExtension = "urn:manyhands:cancel-message:1";

/**
 * Keys of our own in A2A metadata; everything else in there belongs to others and passes through as
 * data.
 */
export const metadataKeys = {
  /** On a Task and on every stored stream event: the journal's sequence number. */
  seq: "manyhands/seq",
  /** On a Task and on every stored stream event: what it has used so far, a TaskUsage. */
  usage: "manyhands/usage",
  /** On a status update, with the journal extension: `{ at, event }`. */
  event: "manyhands/event",
  /** On a status update that is not stored, with the journal extension: an AgentProgress. */
  progress: "manyhands/progress",
  /** On the status message of a task that failed: `{ code, message }`, an error of ours. */
  error: "manyhands/error",
  /** On a part that is a stored file: `{ sha256, size }`. */
  file: "manyhands/file",
  /** On a SendMessage request: what the caller allows the task to spend. */
  budget: "manyhands/budget",
  /**
   * On a SendMessage request: a JSON Schema the answer has to fit; the answer then has a data part.
   */
  outputSchema: "manyhands/outputSchema",
  /**
   * On a SendMessage request that another agent makes: what the user themself said, apart from what
   * that agent writes.
   */
  said: "manyhands/said",
  /** On such a request: addresses in the message that the asking agent was free to open itself. */
  given: "manyhands/given",
  /**
   * On such a request: what the asking task has taken in, an array of names; on a Task of ours:
   * what it had when it answered.
   */
  takenIn: "manyhands/takenIn",
  /**
   * On a SendMessage request that is to return immediately: milliseconds it may wait all the same,
   * while the task tells nothing, for its end.
   */
  wait: "manyhands/wait",
  /**
   * On a CancelTask request: the id of the message whose task it means, which may not be there yet.
   */
  messageId: "manyhands/messageId",
  /**
   * On the message that starts a flow: `{ agents?, options? }`, which agents work on the task and
   * how.
   */
  flow: flowSettingsKey,
  /** On a SendMessage request: how many agents the task has passed through. */
  hops: "manyhands/hops",
} as const;

/** How many addresses a request may give. */
export const mostGiven = 100;
