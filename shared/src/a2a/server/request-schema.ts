import { TaskState } from "@a2a-js/sdk";
import * as z from "zod";
import { isObject } from "../../core/json.ts";
import { FieldViolationsError } from "../wire-error.ts";

const id = (longest: number) => z.string().min(1).max(longest);
/** Numbers and booleans may be strings, as in a query. */
const count = z.union(
  [
    z.int(),
    z
      .string()
      .regex(/^\d{1,9}$/)
      .transform(Number),
  ],
  { error: "must be a whole number, 0 or more" },
);
const flag = z.union([z.boolean(), z.enum(["true", "false"]).transform((text) => text === "true")], {
  error: "must be true or false",
});
/** Passed through by reference, so that keys like `__proto__` remain data. */
export const metadata = z.custom<Record<string, unknown>>(isObject, "must be an object");
/** Bytes in ProtoJSON: base64 in either alphabet. */
export const base64 = z.string().regex(/^[A-Za-z0-9+/_-]*={0,2}$/, "must be base64");
/** A URL an agent may be asked to fetch. What it may really reach is decided when it fetches. */
export const fileUrl = z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).max(8192);
/** A short text, such as a name or a media type. */
export const label = z.string().max(255);

/** Any JSON value, and null is one. */
const anyValue = z.unknown().optional();

const part = protoObject({
  text: z.string().optional(),
  raw: base64.optional(),
  url: fileUrl.optional(),
  data: anyValue,
  metadata: metadata.optional(),
  filename: label.optional(),
  mediaType: label.optional(),
}).refine((value) => contentFields.filter((field) => value[field] !== undefined).length === 1, {
  error: "must have exactly one of text, raw, url and data",
});
const contentFields = ["text", "raw", "url", "data"] as const;

/** The id of a task. */
export const taskId = id(128);
/** An optional id of a task: the empty string is ProtoJSON's default and means the same. */
export const someTaskId = z.string().max(128);
/** An optional id of a conversation, which clients may choose; the same holds for it. */
export const someContextId = z.string().max(1024);
/** The id of a message, which clients choose. */
export const messageId = id(256);
/** How many of the newest messages to return. */
export const historyLength = count.pipe(z.int().min(0)).optional();
/** A list of URIs or media types. */
export const shortList = z.array(z.string().max(1024)).max(64).optional();

const message = protoObject({
  messageId,
  contextId: someContextId.optional(),
  taskId: someTaskId.optional(),
  role: z.literal(["ROLE_USER", 1], { error: "must be ROLE_USER" }),
  parts: z.array(part).min(1).max(100),
  metadata: metadata.optional(),
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
  id: z.string().max(128).optional(),
  url: webhookUrl,
  token: webhookToken.optional(),
  authentication: protoObject({ scheme: authenticationScheme, credentials: credentials.optional() }).optional(),
};

const sendMessage = protoObject({
  message,
  configuration: protoObject({
    acceptedOutputModes: shortList,
    historyLength,
    returnImmediately: flag.optional(),
    taskPushNotificationConfig: protoObject(receiver).optional(),
  }).optional(),
  metadata: metadata.optional(),
});

const stateNames = Object.keys(TaskState).filter((name) => name.startsWith("TASK_STATE_"));
const listTasks = protoObject({
  contextId: someContextId.optional(),
  status: z.enum(stateNames).optional(),
  pageSize: count.pipe(z.int().min(1).max(100)).optional(),
  pageToken: z.string().max(1024).optional(),
  historyLength,
  statusTimestampAfter: z.iso.datetime({ offset: true }).optional(),
  includeArtifacts: flag.optional(),
});

const anyObject = metadata;

/** The parameters of each JSON-RPC method of A2A 1.0, in ProtoJSON. */
export const requestSchemas = {
  SendMessage: sendMessage,
  SendStreamingMessage: sendMessage,
  GetTask: protoObject({ id: taskId, historyLength }),
  ListTasks: listTasks,
  CancelTask: protoObject({ id: taskId, metadata: metadata.optional() }),
  SubscribeToTask: protoObject({ id: taskId }),
  CreateTaskPushNotificationConfig: protoObject({ taskId, ...receiver }),
  GetTaskPushNotificationConfig: protoObject({ taskId, id: receiverId }),
  ListTaskPushNotificationConfigs: protoObject({
    taskId,
    pageSize: count.pipe(z.int().min(0)).optional(),
    pageToken: z.string().max(1024).optional(),
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
 * The schema of a ProtoJSON message. ProtoJSON accepts a field under its JSON name (`taskId`) or
 * its proto name (`task_id`), not under both, and null for one that has its default; unknown keys
 * are dropped.
 */
function protoObject<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess((value, { issues }) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const given = value as Readonly<Record<string, unknown>>;
    if (isWrittenPlainly(given)) return given;
    for (const key in given) {
      const name = jsonName(key);
      if (name === key || !Object.hasOwn(shape, name) || !Object.hasOwn(given, name)) continue;
      issues.push({ code: "custom", path: [name], input: given, message: `is given as ${name} and as ${key}` });
    }
    return withJsonNames(given, shape);
  }, z.object(shape));
}

function withJsonNames(value: Readonly<Record<string, unknown>>, shape: z.ZodRawShape): unknown {
  const named = Object.entries(value).map(([key, field]) => {
    const name = jsonName(key);
    return [Object.hasOwn(shape, name) ? name : key, field] as const;
  });
  return Object.fromEntries(named.filter(([key, field]) => field !== null || shape[key] === anyValue));
}

/** The JSON name of a field, which may come under its proto name. */
export function jsonName(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Whether no key is a proto name and nothing is null, as in most messages. */
function isWrittenPlainly(value: Readonly<Record<string, unknown>>): boolean {
  for (const key in value) if (value[key] === null || key.includes("_")) return false;
  return true;
}
