import { afterAll, beforeAll, expect, test } from "bun:test";
import { Role, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { ClientFactory as OldClientFactory } from "a2a-sdk-v0/client";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { rpc } from "./rpc.ts";

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
});
afterAll(() => server.stop());

const request = (text: string, over: { taskId?: string; contextId?: string } = {}, returnImmediately = false) => ({
  tenant: "",
  message: {
    messageId: crypto.randomUUID(),
    taskId: "",
    contextId: "",
    role: Role.ROLE_USER,
    parts: [{ content: { $case: "text" as const, value: text }, metadata: undefined, filename: "", mediaType: "" }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...over,
  },
  configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
  metadata: undefined,
});

/**
 * What a call fails with. (`expect(…).rejects` would block the event loop that this server runs
 * on.)
 */
const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

const textIn = (task: Task) => {
  const content = task.artifacts.at(-1)?.parts[0]?.content;
  return content?.$case === "text" ? content.value : undefined;
};

const makers: readonly [string, () => Promise<Client>][] = [
  ["JSON-RPC", () => clientFor([new JsonRpcTransportFactory()], ["JSONRPC"])],
  ["HTTP+JSON", () => clientFor([new RestTransportFactory()], ["HTTP+JSON"])],
  ["gRPC", () => clientFor([new GrpcTransportFactory()], ["GRPC"])],
  ["JSON-RPC of 0.3", legacyClient],
];

async function clientFor(
  transports: (JsonRpcTransportFactory | RestTransportFactory | GrpcTransportFactory)[],
  preferredTransports: string[],
) {
  return new ClientFactory({ transports, preferredTransports }).createFromUrl(server.url);
}

/** The 1.3 client with the wire format of 0.3: its own compatibility layer against ours. */
async function legacyClient(): Promise<Client> {
  const legacyCompat = { enabled: true };
  const card = await new DefaultAgentCardResolver({ legacyCompat }).resolve(server.url);
  const supportedInterfaces = card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === "0.3");
  const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory({ legacyCompat })] });
  return factory.createFromAgentCard({ ...card, supportedInterfaces });
}

for (const [binding, make] of makers) {
  test(`the SDK's client over ${binding} sends, reads, answers and cancels`, async () => {
    const client = await make();
    const done = (await client.sendMessage(request("answer yes"))) as Task;
    expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(textIn(done)).toBe("yes");
    expect(textIn(await client.getTask({ tenant: "", id: done.id }))).toBe("yes");
    expect((await client.getTask({ tenant: "", id: done.id, historyLength: 0 })).history).toEqual([]);

    const asked = (await client.sendMessage(request("ask Who?"))) as Task;
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const heard = (await client.sendMessage(request("me", { taskId: asked.id }))) as Task;
    expect(textIn(heard)).toBe("heard me");

    const running = (await client.sendMessage(request("wait 60000", {}, true))) as Task;
    const canceled = await client.cancelTask({ tenant: "", id: running.id, metadata: undefined });
    expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  });

  test(`the SDK's client over ${binding} streams, subscribes and reports errors by name`, async () => {
    const client = await make();
    const frames = await Array.fromAsync<StreamResponse>(client.sendMessageStream(request("work 3")));
    expect(frames[0]?.payload?.$case).toBe("task");
    expect(frames.filter(({ payload }) => payload?.$case === "artifactUpdate")).toHaveLength(1);
    const last = frames.at(-1)?.payload;
    expect(last?.$case === "statusUpdate" ? last.value.status?.state : undefined).toBe(TaskState.TASK_STATE_COMPLETED);

    const running = (await client.sendMessage(request("work 20", {}, true))) as Task;
    const rest = await Array.fromAsync<StreamResponse>(client.resubscribeTask({ tenant: "", id: running.id }));
    expect(rest[0]?.payload?.$case).toBe("task");
    expect(rest.length).toBeGreaterThan(2);

    const id = running.id;
    expect(await failure(client.getTask({ tenant: "", id: "none" }))).toBeInstanceOf(TaskNotFoundError);
    expect(await failure(client.cancelTask({ tenant: "", id, metadata: undefined }))).toBeInstanceOf(
      TaskNotCancelableError,
    );
    expect(await failure(client.sendMessage(request("more", { taskId: id })))).toBeInstanceOf(
      UnsupportedOperationError,
    );
  });
}

test("the SDK's client lists tasks over the three bindings of 1.0", async () => {
  const [rpc, rest, grpc] = await Promise.all(makers.slice(0, 3).map(([, make]) => make()));
  const asked = {
    tenant: "",
    contextId: "",
    status: TaskState.TASK_STATE_COMPLETED,
    pageSize: 2,
    pageToken: "",
    statusTimestampAfter: undefined,
  };
  await rpc?.sendMessage(request("answer x"));
  const listed = await rpc?.listTasks(asked);
  expect(listed?.tasks.length).toBeGreaterThan(0);
  expect(await rest?.listTasks(asked)).toEqual(listed);
  expect(await grpc?.listTasks(asked)).toEqual(listed);
});

test("the real 0.3.14 client finds its card and sends, streams, answers, reads, resubscribes and cancels", async () => {
  const client = await new OldClientFactory().createFromUrl(server.url);
  const params = (text: string, over: object = {}) => ({
    message: {
      kind: "message" as const,
      messageId: crypto.randomUUID(),
      role: "user" as const,
      parts: [{ kind: "text" as const, text }],
      ...over,
    },
  });
  const sent = await client.sendMessage(params("answer yes"));
  if (sent.kind !== "task") throw new Error("expected a task");
  expect(sent.status.state).toBe("completed");
  expect(sent.artifacts?.at(-1)?.parts[0]).toMatchObject({ kind: "text", text: "yes" });
  expect((await client.getTask({ id: sent.id })).status.state).toBe("completed");

  const kinds: string[] = [];
  let asked: string | undefined;
  for await (const event of client.sendMessageStream(params("ask Who?"))) {
    kinds.push(event.kind);
    if (event.kind === "status-update" && event.final) asked = event.taskId;
  }
  expect(kinds[0]).toBe("task");
  if (asked === undefined) throw new Error("the question did not end the turn");
  const heard = await client.sendMessage(params("me", { taskId: asked }));
  expect(heard.kind === "task" && heard.artifacts?.at(-1)?.parts[0]).toMatchObject({ text: "heard me" });

  const configuration = { blocking: false };
  const running = await client.sendMessage({ ...params("wait 60000"), configuration });
  if (running.kind !== "task") throw new Error("expected a task");
  const watching = Array.fromAsync(client.resubscribeTask({ id: running.id }));
  expect((await client.cancelTask({ id: running.id })).status.state).toBe("canceled");
  expect((await watching).at(-1)).toMatchObject({ kind: "status-update", final: true });
});

test("a 0.3 call blocks unless its configuration says otherwise", async () => {
  const message = { messageId: crypto.randomUUID(), role: "user", parts: [{ kind: "text", text: "wait 50" }] };
  const params = { message, configuration: { historyLength: 1 } };
  const { body } = await rpc(server.url, "message/send", params, { headers: { "A2A-Version": "0.3" } });
  expect(body.result).toMatchObject({ kind: "task", status: { state: "completed" } });
});
