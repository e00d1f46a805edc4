import { TaskState } from "@a2a-js/sdk";
import * as z from "zod";
import { FieldViolationsError } from "../wire-error.ts";

const id = (longest: number) => z.string().min(1).max(longest);
/**
 * In ProtoJSON a null means the field's default; numbers and booleans may be strings, as in a
 * query.
 */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);
const count = z.union([
  z.int(),
  z
    .string()
    .regex(/^\d{1,9}$/, "must be a whole number")
    .transform(Number),
]);
const flag = z.union([z.boolean(), z.enum(["true", "false"]).transform((text) => text === "true")]);
/** Passed through by reference, so that keys like `__proto__` remain data. */
export const metadata = z.custom<Record<string, unknown>>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "must be an object",
);
/** Bytes in ProtoJSON: base64 in either alphabet. */
export const base64 = z.string().regex(/^[A-Za-z0-9+/_-]*={0,2}$/, "must be base64");
/** A URL an agent may be asked to fetch. What it may really reach is decided when it fetches. */
export const fileUrl = z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).max(8192);
/** A short text, such as a name or a media type. */
export const label = z.string().max(255);

const part = protoObject({
  text: optional(z.string()),
  raw: optional(base64),
  url: optional(fileUrl),
  data: z.unknown().optional(),
  metadata: optional(metadata),
  filename: optional(label),
  mediaType: optional(label),
}).refine((value) => contentFields.filter((field) => value[field] !== undefined).length === 1, {
  error: "must have exactly one of text, raw, url and data",
});
const contentFields = ["text", "raw", "url", "data"] as const;

/** The id of a task. */
export const taskId = id(128);
/** The id of a conversation, which clients may choose. */
export const contextId = id(1024);
/** The id of a message, which clients choose. */
export const messageId = id(256);
/** How many of the newest messages to return. */
export const historyLength = optional(count.pipe(z.int().min(0)));
/** A list of URIs or media types. */
export const shortList = optional(z.array(z.string().max(1024)).max(64));
/** An optional id; the empty string is ProtoJSON's default and means the same. */
export const optionalId = (schema: z.ZodType<string>) =>
  optional(z.union([z.literal(""), schema])).transform((value) => value || undefined);

const message = protoObject({
  messageId,
  contextId: optionalId(contextId),
  taskId: optionalId(taskId),
  role: z.union([z.literal("ROLE_USER"), z.literal(1)], { error: "must be ROLE_USER" }),
  parts: z.array(part).min(1).max(100),
  metadata: optional(metadata),
  extensions: shortList,
  referenceTaskIds: shortList,
});

/** Text allowed in a header. */
const headerText = (longest: number) =>
  z
    .string()
    .max(longest)
    .regex(/^[\x20-\x7e]*$/, "must be printable ASCII");
/**
 * The address for notifications. Whether it may be reached is checked on registration and on every
 * send.
 */
export const webhookUrl = z.url({ error: "must be a URL" }).max(2048);
/** What a receiver recognizes notifications by; goes into a header. */
export const webhookToken = headerText(1024);
/** The scheme of an Authorization header (RFC 9110). */
export const authenticationScheme = z.string().regex(/^[!#$%&'*+.^_`|~\w-]{1,64}$/, "must be the name of a scheme");
/** What follows the scheme in an Authorization header. */
export const credentials = headerText(8192);
/** The id of a receiver of notifications. */
export const receiverId = id(128);

const receiver = {
  id: optionalId(receiverId),
  url: webhookUrl,
  token: optional(webhookToken),
  authentication: optional(protoObject({ scheme: authenticationScheme, credentials: optional(credentials) })),
};

const sendMessage = protoObject({
  message,
  configuration: optional(
    protoObject({
      acceptedOutputModes: shortList,
      historyLength,
      returnImmediately: optional(flag),
      taskPushNotificationConfig: optional(protoObject(receiver)),
    }),
  ),
  metadata: optional(metadata),
});

const stateNames = Object.keys(TaskState).filter((name) => name.startsWith("TASK_STATE_"));
const listTasks = protoObject({
  contextId: optionalId(contextId),
  status: optional(z.enum(stateNames)),
  pageSize: optional(count.pipe(z.int().min(1).max(100))),
  pageToken: optional(z.string().max(1024)),
  historyLength,
  statusTimestampAfter: optional(z.iso.datetime({ offset: true })),
  includeArtifacts: optional(flag),
});

const anyObject = metadata;

/** The parameters of each JSON-RPC method of A2A 1.0, in ProtoJSON. */
export const requestSchemas = {
  SendMessage: sendMessage,
  SendStreamingMessage: sendMessage,
  GetTask: protoObject({ id: taskId, historyLength }),
  ListTasks: listTasks,
  CancelTask: protoObject({ id: taskId, metadata: optional(metadata) }),
  SubscribeToTask: protoObject({ id: taskId }),
  CreateTaskPushNotificationConfig: protoObject({ taskId, ...receiver }),
  GetTaskPushNotificationConfig: protoObject({ taskId, id: receiverId }),
  ListTaskPushNotificationConfigs: protoObject({
    taskId,
    pageSize: optional(count),
    pageToken: optional(z.string().max(1024)),
  }),
  DeleteTaskPushNotificationConfig: protoObject({ taskId, id: receiverId }),
  GetExtendedAgentCard: anyObject,
} as const satisfies Record<string, z.ZodType>;

/** The checked value with the schema's fields only. Throws FieldViolationsError. */
export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new FieldViolationsError(
    parsed.error.issues.slice(0, 20).map((issue) => ({
      field: issue.path.map(String).join(".") || "params",
      description: issue.message,
    })),
  );
}

/**
 * The schema of a ProtoJSON message. ProtoJSON accepts a field under its JSON name (`taskId`) and
 * its proto name (`task_id`); unknown keys are dropped.
 */
function protoObject<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess((value) => withJsonNames(value, shape), z.object(shape));
}

function withJsonNames(value: unknown, shape: z.ZodRawShape): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  if (!Object.keys(value).some((key) => key.includes("_"))) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => {
      const name = key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
      return [Object.hasOwn(shape, name) && !Object.hasOwn(value, name) ? name : key, field];
    }),
  );
}
