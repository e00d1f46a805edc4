import { Role, type SendMessageRequest, type Part as WirePart } from "@a2a-js/sdk";
import type { JsonSchema } from "../../core/model.ts";
import { type AgentInput, type FlowSettings, settingsMetadata } from "../../core/runs/task.ts";
import { foreignTask, maxSources, type TakenIn } from "../../core/taken-in.ts";
import { hitlExtension, maxGiven, metadataKeys } from "../extensions.ts";
import type { HitlResponse } from "../hitl.ts";
import { textPart } from "../wire-part.ts";

/**
 * A message to an agent: a text, or parts where there is more than text. With a `taskId` it answers
 * that task.
 */
export type OutgoingMessage = {
  readonly text?: string;
  readonly parts?: readonly WirePart[];
  /**
   * An agent of this system starts one task per id, however often it is sent. Left out: a new id.
   */
  readonly messageId?: string;
  readonly taskId?: string;
  /**
   * False: it answers no question of the task, whose agent, if of this system, refuses it while one
   * is open.
   */
  readonly answers?: false;
  readonly contextId?: string;
  readonly budget?: AgentInput["budget"];
  readonly hops?: number;
  /** The user's own words, apart from the sender's. */
  readonly said?: readonly string[];
  /** Addresses in the message that the sender was free to open itself. */
  readonly given?: readonly string[];
  /** What the sender's task has taken in. */
  readonly takenIn?: TakenIn;
  /** A JSON Schema for the answer, as `z.toJSONSchema` makes it. */
  readonly outputSchema?: JsonSchema | undefined;
  /** Settings for an agent that is a flow. */
  readonly flow?: FlowSettings;
  /** A person's answer in the form of the HITL extension. */
  readonly hitl?: HitlResponse;
};

/**
 * A message as the SDK sends it. `waitMs`: how many milliseconds an agent of this system waits for
 * the task to settle before it answers.
 */
export function sendRequest(message: OutgoingMessage, returnImmediately: boolean, waitMs?: number): SendMessageRequest {
  const { text, parts = [], messageId = crypto.randomUUID(), taskId = "", contextId = "" } = message;
  const { answers, budget, hops, said, given, takenIn, outputSchema, flow = {}, hitl } = message;
  const set = { ...settingsMetadata(flow), ...(hitl && { [hitlExtension]: hitl }) };
  const metadata = {
    ...(budget === undefined ? {} : { [metadataKeys.budget]: budget }),
    ...(said === undefined ? {} : { [metadataKeys.said]: bounded(said) }),
    ...(given === undefined || given.length === 0 ? {} : { [metadataKeys.given]: given.slice(0, maxGiven) }),
    ...(takenIn === undefined ? {} : { [metadataKeys.takenIn]: boundedSources(takenIn) }),
    ...(hops === undefined ? {} : { [metadataKeys.hops]: hops }),
    ...(answers === undefined ? {} : { [metadataKeys.answers]: answers }),
    ...(outputSchema === undefined ? {} : { [metadataKeys.outputSchema]: outputSchema }),
    ...(waitMs === undefined ? {} : { [metadataKeys.wait]: waitMs }),
  };
  return {
    tenant: "",
    message: {
      messageId,
      taskId,
      contextId,
      role: Role.ROLE_USER,
      parts: [...(text === undefined ? [] : [textPart(text)]), ...parts],
      metadata: Object.keys(set).length === 0 ? undefined : set,
      extensions: hitl === undefined ? [] : [hitlExtension],
      referenceTaskIds: [],
    },
    configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
  };
}

/** The newest messages, as many as a request may carry. */
function bounded(said: readonly string[]): string[] {
  return said.slice(-20).map((text) => text.slice(0, 20_000));
}

/** As many sources as metadata may name; one stands for any others. */
function boundedSources(takenIn: TakenIn): TakenIn {
  return takenIn.length <= maxSources ? takenIn : [...takenIn.slice(0, maxSources - 1), foreignTask];
}
