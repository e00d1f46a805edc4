import fc from "fast-check";

/**
 * What is on the server, for requests that get past "not found". Every list has its fixed length,
 * so that the same seed makes the same requests of other ids.
 */
export type Known = {
  /** The server's name and port. */
  readonly host: string;
  readonly tasks: readonly string[];
  readonly contexts: readonly string[];
  readonly receivers: readonly string[];
  readonly pageTokens: readonly string[];
};

type Params = fc.Arbitrary<object>;

/** What the server under test does, by how a message's id begins. */
const behaviours = [
  ...["tck-complete-task", "tck-artifact-text", "tck-artifact-file", "tck-artifact-file-url", "tck-artifact-data"],
  ...["tck-message-response", "tck-input-required", "tck-reject-task", "tck-stream-001"],
];

const messageId = fc
  .tuple(fc.constantFrom(...behaviours), fc.nat(1_000_000))
  .map(([name, number]) => `${name}-${number}`);
const text = fc.oneof(fc.constantFrom("hello", "done", ""), fc.string({ unit: "binary", maxLength: 30 }));
const base64 = fc.base64String({ maxLength: 40 });
const url = fc.constantFrom("https://example.com/x", "http://127.0.0.1:1/x");
const mediaType = fc.constantFrom("text/plain", "application/json", "image/png", "x", "");
const json = fc.jsonValue({ maxDepth: 2 });
const metadata = fc.oneof(
  fc.constant({}),
  fc.dictionary(fc.string({ maxLength: 5 }), json, { maxKeys: 3 }),
  fc.constantFrom(
    ...[{ "manyhands/budget": { steps: 1 } }, { "manyhands/wait": 5 }, { "manyhands/hops": 9 }],
    ...[{ "manyhands/outputSchema": { type: "object" } }, { "manyhands/messageId": "tck-complete-task-1" }],
    ...[{ "manyhands/flow": { agents: ["kit"], options: {} } }, { "manyhands/said": ["x"] }],
  ),
);
const historyLength = fc.nat(3);

/** A record whose fields are there or not, except `required`. */
function some(fields: Record<string, fc.Arbitrary<unknown>>, ...required: string[]): Params {
  return fc.record(fields, { requiredKeys: required });
}

function receiver(known: Known) {
  const authentication = some({ scheme: fc.constant("Bearer"), credentials: fc.constant("secret") }, "scheme");
  return {
    id: fc.constantFrom(...known.receivers, "another"),
    url: fc.constantFrom("http://127.0.0.1:1/hook", "http://169.254.169.254/", "https://example.invalid/hook"),
    token: fc.constant("token"),
    authentication,
  };
}

/** Right parameters of each method of A2A 1.0, in ProtoJSON. */
export function paramsOf(known: Known) {
  const id = fc.constantFrom(...known.tasks);
  const contextId = fc.constantFrom(...known.contexts, "mine");
  const about = { metadata, filename: fc.constantFrom("a.txt", "../x", ""), mediaType };
  const part = fc.oneof(
    some({ text, ...about }, "text"),
    some({ raw: base64, ...about }, "raw"),
    some({ url, ...about }, "url"),
    some({ data: json, ...about }, "data"),
  );
  const parts = fc.array(part, { minLength: 1, maxLength: 3 });
  const message = some(
    {
      ...{ messageId, role: fc.constant("ROLE_USER"), parts, metadata, contextId, taskId: id },
      extensions: fc.constantFrom([], ["urn:manyhands:journal:1"], ["urn:x"]),
      referenceTaskIds: fc.constant([...known.tasks]),
    },
    ...["messageId", "role", "parts"],
  );
  const configuration = some({
    acceptedOutputModes: fc.constantFrom([], ["text/plain"], ["application/json"], ["image/png"]),
    historyLength,
    returnImmediately: fc.boolean(),
    taskPushNotificationConfig: some(receiver(known), "url"),
  });
  const tenant = fc.constantFrom("", "kit", "none");
  const send = some({ message, configuration, metadata, tenant }, "message");
  const status = fc.constantFrom("TASK_STATE_COMPLETED", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_WORKING");
  const receiverId = fc.constantFrom(...known.receivers);
  return {
    SendMessage: send,
    SendStreamingMessage: send,
    GetTask: some({ id, historyLength, tenant }, "id"),
    ListTasks: some({
      ...{ contextId, status, historyLength, tenant, includeArtifacts: fc.boolean(), pageSize: fc.nat(101) },
      pageToken: fc.constantFrom(...known.pageTokens),
      statusTimestampAfter: fc.constant("2026-01-01T00:00:00Z"),
    }),
    CancelTask: some({ id, metadata, tenant }, "id"),
    SubscribeToTask: some({ id, tenant }, "id"),
    CreateTaskPushNotificationConfig: some({ taskId: id, ...receiver(known), tenant }, "taskId", "url"),
    GetTaskPushNotificationConfig: some({ taskId: id, id: receiverId, tenant }, "taskId", "id"),
    ListTaskPushNotificationConfigs: some({ taskId: id, pageSize: fc.nat(5), tenant }, "taskId"),
    DeleteTaskPushNotificationConfig: some({ taskId: id, id: receiverId, tenant }, "taskId", "id"),
    GetExtendedAgentCard: some({ tenant }),
  } satisfies Record<string, Params>;
}

export type MethodName = keyof ReturnType<typeof paramsOf>;

/** Right parameters of each method of A2A 0.3. */
export function legacyParamsOf(known: Known): Record<string, Params> {
  const id = fc.constantFrom(...known.tasks);
  const file = fc.oneof(some({ bytes: base64, name: text }, "bytes"), some({ uri: url, mimeType: mediaType }, "uri"));
  const part = fc.oneof(
    some({ kind: fc.constant("text"), text, metadata }, "kind", "text"),
    some({ kind: fc.constant("file"), file, metadata }, "kind", "file"),
    some({ kind: fc.constant("data"), data: fc.dictionary(text, json, { maxKeys: 2 }) }, "kind", "data"),
  );
  const message = some(
    {
      ...{ kind: fc.constant("message"), messageId, role: fc.constant("user"), metadata, taskId: id },
      parts: fc.array(part, { minLength: 1, maxLength: 3 }),
      contextId: fc.constantFrom(...known.contexts),
    },
    ...["kind", "messageId", "role", "parts"],
  );
  const { authentication: _, ...plain } = receiver(known);
  const pushNotificationConfig = some(plain, "url");
  const configuration = some({ blocking: fc.boolean(), historyLength, pushNotificationConfig });
  const send = some({ message, configuration, metadata }, "message");
  const one = some({ id, historyLength, metadata }, "id");
  const pushNotificationConfigId = fc.constantFrom(...known.receivers);
  return {
    "message/send": send,
    "message/stream": send,
    "tasks/get": one,
    "tasks/cancel": one,
    "tasks/resubscribe": one,
    "tasks/pushNotificationConfig/set": some(
      { taskId: id, pushNotificationConfig },
      "taskId",
      "pushNotificationConfig",
    ),
    "tasks/pushNotificationConfig/get": some({ id, pushNotificationConfigId }, "id"),
    "tasks/pushNotificationConfig/list": some({ id }, "id"),
    "tasks/pushNotificationConfig/delete": some({ id, pushNotificationConfigId }, "id", "pushNotificationConfigId"),
    "agent/getAuthenticatedExtendedCard": fc.constant({}),
  };
}
