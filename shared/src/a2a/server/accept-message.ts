import type { Message, SendMessageRequest, Part as WirePart } from "@a2a-js/sdk";
import { PushNotificationNotSupportedError } from "@a2a-js/sdk/errors";
import type { Json } from "../../core/json.ts";
import type { IncomingMessage, IncomingPart } from "../../core/message.ts";
import type { RunRecord } from "../../core/runs/engine.ts";
import { sentName } from "../../core/text/inside-path.ts";
import type { Trace } from "../../core/trace.ts";
import { continueRun, type Sender, startRun } from "../../runs/accept-message.ts";
import { checkMediaTypes, wantsData } from "../media-types.ts";
import type { ProtocolVersion } from "../version.ts";
import { FieldViolationsError } from "../wire-error.ts";
import { inPlainWords } from "./hitl-answer.ts";
import type { TaskDeps } from "./task-access.ts";
import { mayAnswer, taskOptions } from "./task-options.ts";

const longestMetadata = 64 * 1024;

/** Who sends a message, and how. */
type MessageSender = Sender & {
  readonly wire: ProtocolVersion;
  /** Whether the call activates the HITL extension. */
  readonly hitl: boolean;
  readonly trace?: Trace | undefined;
};

/**
 * Stores a message durably: as a new task, or as the next message of the task it names. Once this
 * resolves, the message is on disk. The same message resent by the same principal within the
 * sender's window is the same task; another message with its id is rejected in the same context.
 */
export async function acceptMessage(
  deps: TaskDeps,
  request: SendMessageRequest,
  { wire, hitl, trace, ...sender }: MessageSender,
): Promise<RunRecord> {
  const { message, configuration, metadata } = request;
  if (message === undefined) throw new FieldViolationsError([{ field: "message", description: "is required" }]);
  const receiver = configuration?.taskPushNotificationConfig;
  if (receiver !== undefined && deps.receivers === undefined) throw new PushNotificationNotSupportedError();
  if (receiver !== undefined) await deps.receivers?.admit(receiver);
  checkMediaTypes(message.parts);
  const answerAs = wantsData(configuration?.acceptedOutputModes ?? []) ? ({ answerAs: "data" } as const) : {};
  const options = { ...taskOptions(metadata), ...answerAs, ...(trace && { trace }) };
  const { contextId, taskId: id } = message;
  const question = mayAnswer(metadata) ? {} : ({ questionEvent: "none" } as const);
  const received = await inPlainWords(deps, message, incomingMessage(message), { ...sender, hitl });
  const run =
    id === ""
      ? await startRun(deps, { message: received, ...options }, { contextId, ...sender })
      : await continueRun(deps, { id, contextId, called: "task", ...question }, received, sender);
  // If a crash comes in between, the sender gets no answer, and the resent message adds what is
  // missing.
  if (receiver !== undefined) await deps.receivers?.add(run, receiver, wire);
  return run;
}

function incomingMessage(message: Message): IncomingMessage {
  const metadata = message.metadata as IncomingMessage["metadata"];
  if (JSON.stringify(metadata ?? null).length > longestMetadata) {
    throw new FieldViolationsError([{ field: "message.metadata", description: "is longer than 64 kB" }]);
  }
  return {
    messageId: message.messageId,
    parts: incomingParts(message.parts),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/**
 * Most characters of text and data that a message keeps inline; any more become a file. No model
 * reads that much as a message, and every view of the task stays small.
 */
const roomOfMessage = 256 * 1024;

/** The parts, with what is to be a file as its content. */
function incomingParts(parts: readonly WirePart[]): IncomingPart[] {
  let room = roomOfMessage;
  return parts.map((part) => {
    const inline = inlinePart(part, room);
    room -= inline?.size ?? 0;
    return inline?.part ?? filePart(part);
  });
}

/** Returns inline parts unchanged, undefined for parts to be stored as files. */
function inlinePart(part: WirePart, room: number): { part: IncomingPart; size: number } | undefined {
  const { content } = part;
  const mediaType = part.mediaType === "" ? {} : { mediaType: part.mediaType };
  if (content?.$case === "url")
    return { part: { type: "url", url: content.value, ...mediaType, ...named(part) }, size: 0 };
  if (content?.$case === "raw") return undefined;
  if (content?.$case === "text") {
    const size = content.value.length;
    return size > room ? undefined : { part: { type: "text", text: content.value, ...mediaType }, size };
  }
  // The SDK's codec drops `data: null`; a part without any content is rejected earlier.
  const data: Json = content?.value ?? null;
  const size = JSON.stringify(data).length;
  return size > room ? undefined : { part: { type: "data", data, ...mediaType }, size };
}

function filePart(part: WirePart): IncomingPart {
  const { content } = part;
  const about = { ...(part.mediaType === "" ? {} : { mediaType: part.mediaType }), ...named(part) };
  if (content?.$case === "raw") return { type: "bytes", bytes: content.value, name: "file", ...about };
  if (content?.$case === "text")
    return { type: "bytes", bytes: Buffer.from(content.value), name: "message.txt", mediaType: "text/plain", ...about };
  const bytes = Buffer.from(JSON.stringify(content?.value ?? null));
  return { type: "bytes", bytes, name: "message.json", mediaType: "application/json", ...about };
}

function named({ filename }: WirePart): { name?: string } {
  return filename.trim() === "" ? {} : { name: sentName(filename) };
}
