import * as z from "zod";
import {
  authenticationScheme,
  base64,
  credentials,
  fileUrl,
  historyLength,
  label,
  messageId,
  metadata,
  receiverId,
  shortList,
  someContextId,
  someTaskId,
  taskId,
  webhookToken,
  webhookUrl,
} from "./request-schema.ts";

/** Clients of 0.3 send null for what they leave out. */
const orNull = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().transform((value) => value ?? undefined);
const optionalId = (schema: z.ZodType<string>) => orNull(schema).transform((value) => value || undefined);

const file = z
  .object({ bytes: base64.optional(), uri: fileUrl.optional(), name: label.nullish(), mimeType: label.nullish() })
  .refine(({ bytes, uri }) => (bytes === undefined) !== (uri === undefined), "must have exactly one of bytes and uri")
  .transform(({ bytes, uri, name, mimeType }) => ({
    ...(bytes === undefined ? { uri } : { bytes }),
    ...(name ? { name } : {}),
    ...(mimeType ? { mimeType } : {}),
  }));

const part = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("text"), text: z.string(), metadata: metadata.optional() }),
  z.object({ kind: z.literal("file"), file, metadata: metadata.optional() }),
  z.object({ kind: z.literal("data"), data: metadata, metadata: metadata.optional() }),
]);

const message = z.object({
  messageId,
  contextId: optionalId(someContextId),
  taskId: optionalId(someTaskId),
  role: z.literal("user"),
  parts: z.array(part).min(1).max(100),
  metadata: metadata.optional(),
  extensions: orNull(shortList),
  referenceTaskIds: orNull(shortList),
});

const receiver = z.object({
  id: receiverId.optional(),
  url: webhookUrl,
  token: webhookToken.optional(),
  authentication: z
    .object({ schemes: z.array(authenticationScheme).min(1).max(8), credentials: credentials.optional() })
    .optional(),
});
const receiverOf = z.object({ id: taskId, pushNotificationConfigId: receiverId });

/** In 0.3 a call blocks by default; the SDK's translation treats an absent `blocking` as false. */
const configuration = z.object({
  acceptedOutputModes: orNull(shortList),
  blocking: z
    .boolean()
    .nullish()
    .transform((value) => value ?? true),
  historyLength: orNull(historyLength),
  pushNotificationConfig: receiver.optional(),
});

const send = z.object({ message, configuration: configuration.optional(), metadata: metadata.optional() });
const task = z.object({ id: taskId, historyLength: orNull(historyLength), metadata: metadata.optional() });

/** The parameters of each JSON-RPC method of A2A 0.3. */
export const legacySchemas = {
  "message/send": send,
  "message/stream": send,
  "tasks/get": task,
  "tasks/cancel": task,
  "tasks/resubscribe": task,
  "tasks/pushNotificationConfig/set": z.object({ taskId, pushNotificationConfig: receiver }),
  "tasks/pushNotificationConfig/get": receiverOf.partial({ pushNotificationConfigId: true }),
  "tasks/pushNotificationConfig/list": z.object({ id: taskId }),
  "tasks/pushNotificationConfig/delete": receiverOf,
  "agent/getAuthenticatedExtendedCard": metadata,
} as const satisfies Record<string, z.ZodType>;
