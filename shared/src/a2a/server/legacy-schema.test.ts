import { expect, test } from "bun:test";
import { FieldViolationsError } from "../wire-error.ts";
import { legacySchemas } from "./legacy-schema.ts";
import { checked } from "./request-schema.ts";

type Method = keyof typeof legacySchemas;

function faults(method: Method, value: unknown): string[] {
  try {
    checked(legacySchemas[method], value);
    return [];
  } catch (error) {
    if (error instanceof FieldViolationsError) return error.violations.map(({ field }) => field);
    throw error;
  }
}

const text = { kind: "text", text: "hi" };
const message = (over: object = {}) => ({ message: { messageId: "m", role: "user", parts: [text], ...over } });
const part = (one: object) => message({ parts: [one] });
const file = (over: object) => part({ kind: "file", file: { bytes: "aGk=", ...over } });
const linked = (uri: string) => part({ kind: "file", file: { uri } });
const receiver = (over: object = {}) => ({ url: "https://r.test", ...over });
const told = (over: object) => ({
  ...message(),
  configuration: { pushNotificationConfig: receiver(over) },
});
const shown = (over: object) => told({ authentication: { schemes: ["Basic"], ...over } });
const x = (length: number) => "x".repeat(length);
const at = "configuration.pushNotificationConfig";

test.each<readonly [string, Method, unknown, unknown]>([
  ["message.messageId", "message/send", message({ messageId: x(256) }), message({ messageId: "" })],
  ["message.contextId", "message/stream", message({ contextId: "" }), message({ contextId: x(1025) })],
  ["message.taskId", "message/send", message({ taskId: x(128) }), message({ taskId: x(129) })],
  ["message.role", "message/send", message(), message({ role: "agent" })],
  ["message.parts", "message/send", message({ parts: Array(100).fill(text) }), message({ parts: [] })],
  ["message.parts", "message/send", message(), message({ parts: Array(101).fill(text) })],
  ["message.metadata", "message/send", message({ metadata: {} }), message({ metadata: [] })],
  ["message.parts.0.metadata", "message/send", part({ ...text, metadata: {} }), part({ ...text, metadata: "x" })],
  ["message.parts.0.data", "message/send", part({ kind: "data", data: {} }), part({ kind: "data", data: "x" })],
  ["message.parts.0.file.bytes", "message/send", file({ name: null, mimeType: null }), file({ bytes: "***" })],
  ["message.parts.0.file.name", "message/send", file({ name: x(255) }), file({ name: x(256) })],
  ["message.parts.0.file.mimeType", "message/send", file({ mimeType: x(255) }), file({ mimeType: x(256) })],
  ["message.parts.0.file.uri", "message/send", linked("https://x.test"), linked("file:///etc/passwd")],
  [`${at}.url`, "message/send", told({}), told({ url: "nonsense" })],
  [`${at}.id`, "message/send", told({ id: x(128) }), told({ id: "" })],
  [`${at}.token`, "message/send", told({ token: x(1024) }), told({ token: "a\r\nb" })],
  [`${at}.authentication.schemes`, "message/send", shown({}), shown({ schemes: [] })],
  [`${at}.authentication.schemes.0`, "message/send", shown({}), shown({ schemes: ["a b"] })],
  [`${at}.authentication.credentials`, "message/send", shown({ credentials: "dXM6" }), shown({ credentials: "a\nb" })],
  ["configuration.historyLength", "message/send", message(), { ...message(), configuration: { historyLength: -1 } }],
  ["metadata", "message/send", { ...message(), metadata: {} }, { ...message(), metadata: "x" }],
  ["id", "tasks/get", { id: "t", historyLength: 0 }, { id: "" }],
  ["historyLength", "tasks/get", { id: "t" }, { id: "t", historyLength: -1 }],
  ["id", "tasks/cancel", { id: "t", metadata: {} }, { id: x(129) }],
  ["metadata", "tasks/cancel", { id: "t" }, { id: "t", metadata: [] }],
  ["id", "tasks/resubscribe", { id: "t" }, {}],
  [
    "taskId",
    "tasks/pushNotificationConfig/set",
    { taskId: "t", pushNotificationConfig: receiver() },
    { taskId: "", pushNotificationConfig: receiver() },
  ],
  [
    "pushNotificationConfig.url",
    "tasks/pushNotificationConfig/set",
    { taskId: "t", pushNotificationConfig: receiver() },
    { taskId: "t", pushNotificationConfig: {} },
  ],
  ["id", "tasks/pushNotificationConfig/get", { id: "t" }, { pushNotificationConfigId: "r" }],
  [
    "pushNotificationConfigId",
    "tasks/pushNotificationConfig/get",
    { id: "t", pushNotificationConfigId: "r" },
    { id: "t", pushNotificationConfigId: x(129) },
  ],
  ["id", "tasks/pushNotificationConfig/list", { id: "t" }, { id: 5 }],
  [
    "pushNotificationConfigId",
    "tasks/pushNotificationConfig/delete",
    { id: "t", pushNotificationConfigId: "r" },
    { id: "t" },
  ],
  ["params", "agent/getAuthenticatedExtendedCard", {}, "x"],
])("%s of 0.3 is bounded: %#", (field, method, good, bad) => {
  expect(faults(method, good)).toEqual([]);
  expect(faults(method, bad)).toContain(field);
});

test("what a part of 0.3 says of itself is kept, and a null is what is left out", () => {
  const metadata = { k: 1 };
  const parts = [
    { ...text, metadata },
    { kind: "data", data: { n: 0 }, metadata },
    { kind: "file", file: { bytes: "aGk=", name: "a.txt", mimeType: "text/plain" }, metadata },
    { kind: "file", file: { uri: "https://x.test/", name: null, mimeType: null } },
  ];
  const { message: sent, configuration } = checked(legacySchemas["message/send"], {
    ...message({ parts }),
    configuration: { blocking: null },
  });
  expect(sent.parts).toEqual([...parts.slice(0, 3), { kind: "file", file: { uri: "https://x.test/" } }] as never);
  expect(configuration?.blocking).toBe(true);
});
