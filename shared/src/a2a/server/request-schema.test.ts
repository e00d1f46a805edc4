import { expect, test } from "bun:test";
import { FieldViolationsError } from "../wire-error.ts";
import { legacySchemas } from "./legacy-schema.ts";
import { checked, requestSchemas } from "./request-schema.ts";

const message = (over: object = {}) => ({
  message: { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hi" }], ...over },
});

function faults(schema: Parameters<typeof checked>[0], value: unknown): string[] {
  try {
    checked(schema, value);
    return [];
  } catch (error) {
    if (error instanceof FieldViolationsError) return error.violations.map(({ field }) => field);
    throw error;
  }
}

test("a message with each kind of part is accepted, and unknown fields are dropped", () => {
  const parts = [
    { text: "" },
    { raw: "aGk=", filename: "a.txt" },
    { url: "https://x.test/a" },
    { data: null },
    { data: [1], mediaType: "application/json", metadata: { adk_type: "function_response" } },
  ];
  const params = checked(requestSchemas.SendMessage, { ...message({ parts, invented: 1 }), tenant: "t" });
  expect(params.message.parts).toHaveLength(5);
  expect(Object.hasOwn(params, "tenant")).toBe(false);
  expect(Object.hasOwn(params.message, "invented")).toBe(false);
});

test.each([
  ["no message", {}, "message"],
  ["no role", message({ role: undefined }), "message.role"],
  ["a bogus role", message({ role: "ROLE_BOSS" }), "message.role"],
  ["the agent's role", message({ role: "ROLE_AGENT" }), "message.role"],
  ["no messageId", message({ messageId: "" }), "message.messageId"],
  ["a messageId of 257 characters", message({ messageId: "x".repeat(257) }), "message.messageId"],
  ["a contextId of 1025 characters", message({ contextId: "x".repeat(1025) }), "message.contextId"],
  ["no parts", message({ parts: [] }), "message.parts"],
  ["parts that are no list", message({ parts: "hi" }), "message.parts"],
  ["an empty part", message({ parts: [{}] }), "message.parts.0"],
  ["two contents in a part", message({ parts: [{ text: "a", url: "https://x.test" }] }), "message.parts.0"],
  ["raw that is no base64", message({ parts: [{ raw: "***" }] }), "message.parts.0.raw"],
  ["a file URL", message({ parts: [{ url: "file:///etc/passwd" }] }), "message.parts.0.url"],
  ["metadata that is no object", message({ metadata: [1] }), "message.metadata"],
  ["a negative historyLength", { ...message(), configuration: { historyLength: -1 } }, "configuration.historyLength"],
])("a request with %s is refused by the name of the field", (_, params, field) => {
  expect(faults(requestSchemas.SendMessage, params)).toContain(field);
});

const x = (length: number) => "x".repeat(length);
const parted = (part: object) => message({ parts: [part] });
const configured = (configuration: object) => ({ ...message(), configuration });
const receiver = (over: object) => ({ taskId: "t", url: "https://r.test", ...over });
const { SendMessage, GetTask, ListTasks, CancelTask, SubscribeToTask } = requestSchemas;
const {
  CreateTaskPushNotificationConfig: AddReceiver,
  GetTaskPushNotificationConfig: GetReceiver,
  ListTaskPushNotificationConfigs: ListReceivers,
  DeleteTaskPushNotificationConfig: DropReceiver,
} = requestSchemas;

test.each<readonly [string, Parameters<typeof checked>[0], unknown, unknown]>([
  ["message.messageId", SendMessage, message({ messageId: x(256) }), message({ messageId: x(257) })],
  ["message.contextId", SendMessage, message({ contextId: x(1024) }), message({ contextId: x(1025) })],
  ["message.taskId", SendMessage, message({ taskId: x(128) }), message({ taskId: x(129) })],
  ["message.parts", SendMessage, ...lists(100, { text: "" }, (parts) => message({ parts }))],
  [
    "message.parts.0.filename",
    SendMessage,
    parted({ raw: "", filename: x(255) }),
    parted({ raw: "", filename: x(256) }),
  ],
  [
    "message.parts.0.mediaType",
    SendMessage,
    parted({ raw: "", mediaType: x(255) }),
    parted({ raw: "", mediaType: x(256) }),
  ],
  [
    "message.parts.0.url",
    SendMessage,
    parted({ url: `http://x.test/${x(8178)}` }),
    parted({ url: `http://x.test/${x(8179)}` }),
  ],
  ["message.parts.0.raw", SendMessage, parted({ raw: "_-+/AA==" }), parted({ raw: "A===" })],
  ["message.extensions", SendMessage, ...lists(64, "u", (extensions) => message({ extensions }))],
  ["message.extensions.0", SendMessage, message({ extensions: [x(1024)] }), message({ extensions: [x(1025)] })],
  ["message.referenceTaskIds", SendMessage, ...lists(64, "t", (ids) => message({ referenceTaskIds: ids }))],
  ["message.role", SendMessage, message({ role: 1 }), message({ role: 2 })],
  [
    "configuration.acceptedOutputModes",
    SendMessage,
    ...lists(64, "a/b", (acceptedOutputModes) => configured({ acceptedOutputModes })),
  ],
  [
    "configuration.returnImmediately",
    SendMessage,
    configured({ returnImmediately: "false" }),
    configured({ returnImmediately: "no" }),
  ],
  [
    "configuration.historyLength",
    SendMessage,
    configured({ historyLength: "999999999" }),
    configured({ historyLength: "1234567890" }),
  ],
  [
    "configuration.taskPushNotificationConfig.url",
    SendMessage,
    configured({ taskPushNotificationConfig: { url: "http://r.test" } }),
    configured({ taskPushNotificationConfig: {} }),
  ],
  ["id", GetTask, { id: x(128) }, { id: x(129) }],
  ["id", CancelTask, { id: "t", metadata: {} }, { metadata: {} }],
  ["metadata", CancelTask, { id: "t" }, { id: "t", metadata: "no object" }],
  ["id", SubscribeToTask, { id: "t" }, { id: "" }],
  ["contextId", ListTasks, { contextId: "" }, { contextId: x(1025) }],
  ["pageSize", ListTasks, { pageSize: 100 }, { pageSize: "101" }],
  ["pageToken", ListTasks, { pageToken: x(1024) }, { pageToken: x(1025) }],
  [
    "statusTimestampAfter",
    ListTasks,
    { statusTimestampAfter: "2026-01-01T00:00:00+02:00" },
    { statusTimestampAfter: "yesterday" },
  ],
  ["includeArtifacts", ListTasks, { includeArtifacts: false }, { includeArtifacts: 1 }],
  ["status", ListTasks, { status: "TASK_STATE_UNSPECIFIED" }, { status: "UNRECOGNIZED" }],
  ["url", AddReceiver, receiver({ url: `http://x.test/${x(2034)}` }), receiver({ url: `http://x.test/${x(2035)}` })],
  ["id", AddReceiver, receiver({ id: "" }), receiver({ id: x(129) })],
  ["token", AddReceiver, receiver({ token: x(1024) }), receiver({ token: x(1025) })],
  ["token", AddReceiver, receiver({ token: " ~" }), receiver({ token: "a\r\nb" })],
  [
    "authentication.scheme",
    AddReceiver,
    receiver({ authentication: { scheme: x(64) } }),
    receiver({ authentication: { scheme: x(65) } }),
  ],
  [
    "authentication.scheme",
    AddReceiver,
    receiver({ authentication: { scheme: "a-b" } }),
    receiver({ authentication: { scheme: "a b" } }),
  ],
  [
    "authentication.credentials",
    AddReceiver,
    receiver({ authentication: { scheme: "a", credentials: x(8192) } }),
    receiver({ authentication: { scheme: "a", credentials: x(8193) } }),
  ],
  [
    "authentication.credentials",
    AddReceiver,
    receiver({ authentication: { scheme: "a", credentials: "" } }),
    receiver({ authentication: { scheme: "a", credentials: "é" } }),
  ],
  ["id", GetReceiver, { taskId: "t", id: "r" }, { taskId: "t" }],
  ["taskId", ListReceivers, { taskId: "t", pageSize: "0", pageToken: null }, { pageSize: 0 }],
  ["pageSize", ListReceivers, { taskId: "t", pageSize: 7 }, { taskId: "t", pageSize: "many" }],
  ["pageSize", ListReceivers, { taskId: "t", pageSize: 0 }, { taskId: "t", pageSize: -1 }],
  ["pageToken", ListReceivers, { taskId: "t", pageToken: x(1024) }, { taskId: "t", pageToken: x(1025) }],
  ["id", DropReceiver, { taskId: "t", id: "r" }, { taskId: "t", id: "" }],
])("%s is bounded: %#", (field, schema, good, bad) => {
  expect(faults(schema, good)).toEqual([]);
  expect(faults(schema, bad)).toEqual([field]);
});

/** A request with a list of so many, and one with one more. */
function lists(most: number, one: unknown, request: (list: unknown[]) => unknown): [unknown, unknown] {
  return [request(Array(most).fill(one)), request(Array(most + 1).fill(one))];
}

test("of many faults the first twenty are named, and a non-object is one fault as a whole", () => {
  const parts = Array.from({ length: 30 }, () => ({}));
  expect(faults(SendMessage, message({ parts }))).toHaveLength(20);
  for (const none of [null, [], "text", 5]) expect(faults(GetTask, none)).toEqual(["params"]);
});

test("a contextId longer than a UUID and ProtoJSON's ways of saying a default are accepted", () => {
  const params = { ...message({ contextId: "c".repeat(100), taskId: "", metadata: null }), configuration: null };
  expect(faults(requestSchemas.SendMessage, params)).toEqual([]);
});

test("numbers and flags may come as strings, since a query has nothing else", () => {
  const asked = { pageSize: "10", includeArtifacts: "true", historyLength: "0", status: "TASK_STATE_WORKING" };
  expect(checked(requestSchemas.ListTasks, asked)).toMatchObject({
    pageSize: 10,
    includeArtifacts: true,
    historyLength: 0,
  });
  for (const pageSize of [0, 101, "x", 1.5])
    expect(faults(requestSchemas.ListTasks, { pageSize })).toEqual(["pageSize"]);
  for (const pageSize of ["x", "-1", 1.5, true])
    expect(() => checked(requestSchemas.ListTasks, { pageSize })).toThrow(
      "pageSize: must be a whole number, 0 or more",
    );
  for (const includeArtifacts of ["yes", 1])
    expect(() => checked(requestSchemas.ListTasks, { includeArtifacts })).toThrow("must be true or false");
  expect(faults(requestSchemas.ListTasks, { status: "working" })).toEqual(["status"]);
});

test("fields may have their proto names, but keys of metadata and data are never renamed", () => {
  const params = {
    message: {
      message_id: "m1",
      context_id: "c1",
      role: "ROLE_USER",
      parts: [{ data: { media_type: 1 }, media_type: "application/json" }],
      metadata: { task_id: 2 },
    },
    configuration: { history_length: 0, return_immediately: true },
  };
  const found = checked(requestSchemas.SendMessage, params);
  expect(found.message).toMatchObject({ messageId: "m1", contextId: "c1", metadata: { task_id: 2 } });
  expect(found.message.parts[0]).toMatchObject({ data: { media_type: 1 }, mediaType: "application/json" });
  expect(found.configuration).toMatchObject({ historyLength: 0, returnImmediately: true });
  expect(checked(requestSchemas.ListTasks, { includeArtifacts: "false" }).includeArtifacts).toBe(false);
  expect(checked(requestSchemas.GetTask, { id: "t", history_length: 1 })).toEqual({ id: "t", historyLength: 1 });
  expect(faults(requestSchemas.GetTask, { id: "t", history_length: -1 })).toEqual(["historyLength"]);
});

test("a field under both of its names is refused by its name, whatever the two values are", () => {
  const same = message({ contextId: "c1", context_id: "c1" });
  expect(faults(requestSchemas.SendMessage, same)).toEqual(["message.contextId"]);
  const empty = message({ parts: [{ text: "hi", mediaType: "a", media_type: null }] });
  expect(faults(requestSchemas.SendMessage, empty)).toEqual(["message.parts.0.mediaType"]);
  expect(() => checked(requestSchemas.GetTask, { id: "t", historyLength: 1, history_length: 2 })).toThrow(
    expect.objectContaining({
      violations: [{ field: "historyLength", description: "is given as historyLength and as history_length" }],
    }),
  );
  // What another message calls a field is an unknown key here.
  expect(checked(requestSchemas.GetTask, { id: "t", taskId: "x", task_id: "y" })).toEqual({ id: "t" });
});

test("keys like __proto__ in metadata stay data", () => {
  const metadata = JSON.parse('{"__proto__":{"x":1},"constructor":{"y":2}}');
  const params = checked(requestSchemas.SendMessage, message({ metadata }));
  expect(JSON.stringify(params.message.metadata)).toBe('{"__proto__":{"x":1},"constructor":{"y":2}}');
  expect(Reflect.get({}, "x")).toBeUndefined();
});

test("a 0.3 call blocks by default", () => {
  const legacy = { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "hi" }] };
  const send = legacySchemas["message/send"];
  expect(checked(send, { message: legacy, configuration: {} }).configuration?.blocking).toBe(true);
  expect(checked(send, { message: legacy, configuration: { blocking: false } }).configuration?.blocking).toBe(false);
});

test.each([
  ["an unknown kind", { kind: "video" }],
  ["a text that is none", { kind: "text", text: 5 }],
  ["a file without content", { kind: "file", file: { name: "x" } }],
  ["a file with two contents", { kind: "file", file: { bytes: "aGk=", uri: "https://x.test" } }],
])("a 0.3 message with a part of %s is refused", (_, part) => {
  const legacy = { messageId: "m", role: "user", parts: [part] };
  expect(faults(legacySchemas["message/send"], { message: legacy })[0]).toStartWith("message.parts.0");
});
