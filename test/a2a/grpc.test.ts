import { afterAll, beforeAll, expect, test } from "bun:test";
import type { StreamResponse } from "@a2a-js/sdk";
import { type ClientReadableStream, status } from "@grpc/grpc-js";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { countedReaders } from "./counted-readers.ts";
import { failureOf, grpcClient, grpcMessage } from "./grpc-client.ts";
import { eventually } from "./rpc.ts";

let server: AgentServer;
const readers = countedReaders();
beforeAll(async () => {
  server = await startAgentServer({ heartbeatMs: 300, engine: readers.engine });
});
afterAll(() => server.stop());

const seqOf = ({ payload }: StreamResponse) =>
  (payload?.value as { metadata?: Record<string, unknown> } | undefined)?.metadata?.["manyhands/seq"];

function taskIn(update: StreamResponse | undefined): string {
  if (update?.payload?.$case !== "task") throw new Error("A stream begins with its task");
  return update.payload.value.id;
}

async function firstOf(stream: ClientReadableStream<StreamResponse>): Promise<StreamResponse> {
  return new Promise((resolve, reject) => stream.once("data", resolve).once("error", reject));
}

test("a call needs a version that is served, as over the other bindings", async () => {
  using client = grpcClient(server.grpc);
  for (const version of ["", "0.3", "2.0"]) {
    const call = client.call("getTask", { tenant: "", id: "x" }, { metadata: { "a2a-version": version } });
    expect(await failureOf(call)).toMatchObject({ code: status.FAILED_PRECONDITION, reason: "VERSION_NOT_SUPPORTED" });
  }
  const metadata = { "a2a-version": "1.0.1" };
  const { payload } = await client.call("sendMessage", grpcMessage("answer yes"), { metadata });
  expect(payload.$case).toBe("task");
});

test("a request is checked before it is handled, and each wrong field is named", async () => {
  using client = grpcClient(server.grpc);
  const wrong = [
    grpcMessage("x", { role: 2 }),
    grpcMessage("x", { parts: [] }),
    grpcMessage("x", { parts: [{ metadata: undefined, filename: "", mediaType: "" }] }),
    grpcMessage("x", { messageId: "" }),
    grpcMessage("x", {}, { historyLength: -1 }),
    { tenant: "", message: undefined, configuration: undefined, metadata: undefined },
  ];
  for (const request of wrong) {
    const failure = await failureOf(client.call("sendMessage", request));
    expect(failure.code).toBe(status.INVALID_ARGUMENT);
    expect(failure.details).toEqual(["google.rpc.ErrorInfo", "google.rpc.BadRequest"]);
  }
});

test("bytes that are no message, and one nested too deep, are the caller's fault", async () => {
  using client = grpcClient(server.grpc);
  const deep = (levels: number) => {
    let value: unknown = 1;
    for (let n = 0; n < levels; n++) value = { a: value };
    return grpcMessage("x", { metadata: { value } });
  };
  const calls = [
    () => client.send("sendMessage", new Uint8Array([0xff, 0xff, 0xff])),
    () => client.send("sendMessage", new Uint8Array([10, 250])),
    () => client.send("getTask", new Uint8Array(1_000).fill(0x0b)),
    () => client.call("sendMessage", deep(150)),
    () => client.call("sendMessage", deep(3_000)),
  ];
  for (const call of calls) expect((await failureOf(call())).code).toBe(status.INVALID_ARGUMENT);
  expect(server.reported).toEqual([]);
});

test("a time and a number that nothing here can hold are refused for what they are", async () => {
  using client = grpcClient(server.grpc);
  const after = (...seconds: number[]) => new Uint8Array([0x3a, seconds.length + 1, 0x08, ...seconds]);
  const refused = async (request: Uint8Array) => (await failureOf(client.send("listTasks", request))).message;
  expect(await refused(after(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x03))).toContain("a time that is out of range");
  expect(await refused(after(...Array(8).fill(0xff), 0x7f))).toContain("a number that is out of range");
});

test("a caller is who the metadata say, unknown ones are refused, and another's task is not there", async () => {
  using client = grpcClient(server.grpc);
  const as = (user: string) => ({ metadata: { "x-user": user } });
  const refused = await failureOf(client.call("getTask", { tenant: "", id: "x" }, as("nobody")));
  expect([refused.code, refused.reason]).toEqual([status.UNAUTHENTICATED, "UNAUTHORIZED"]);
  const sent = await client.call("sendMessage", grpcMessage("answer yes"), as("ann"));
  const { id } = sent.payload.value;
  expect((await client.call("getTask", { tenant: "", id }, as("ann"))).id).toBe(id);
  const missing = await failureOf(client.call("getTask", { tenant: "", id: "none" }, as("bob")));
  const foreign = await failureOf(client.call("getTask", { tenant: "", id }, as("bob")));
  expect({ ...foreign, message: foreign.message.replace(id, "none") }).toEqual(missing);
  expect(missing.code).toBe(status.NOT_FOUND);
});

test("a connection that is refused by its ends is not answered", async () => {
  const ends: unknown[] = [];
  const guarded = await startAgentServer({
    guard(client, own) {
      ends.push([client.address, client.port > 0, `${own.address}:${own.port}`]);
      return new Response(null, { status: 401 });
    },
  });
  using client = grpcClient(guarded.grpc);
  const failure = await failureOf(client.call("getTask", { tenant: "", id: "x" }));
  expect(failure.code).toBe(status.UNAUTHENTICATED);
  expect(ends).toEqual([["127.0.0.1", true, guarded.grpc]]);
  await guarded.stop();
});

test("an unknown tenant is not found", async () => {
  using client = grpcClient(server.grpc);
  const failure = await failureOf(client.call("getTask", { tenant: "nobody", id: "x" }));
  expect([failure.code, failure.reason]).toEqual([status.NOT_FOUND, "NOT_FOUND"]);
});

test("a stream of a thousand events comes whole and in order, and one is resumed after the last event it had", async () => {
  using client = grpcClient(server.grpc);
  const all: StreamResponse[] = await Array.fromAsync(client.stream("sendStreamingMessage", grpcMessage("work 500")));
  const seqs = all.map(seqOf) as number[];
  expect(seqs).toEqual(seqs.toSorted((one, other) => one - other));
  expect(seqs.length).toBeGreaterThan(1_000);
  const id = taskIn(all[0]);
  const after = seqs[500] ?? 0;
  const metadata = { "last-event-id": String(after) };
  const rest = await Array.fromAsync(client.stream("subscribeToTask", { tenant: "", id }, { metadata }));
  expect(rest.slice(1).map(seqOf) as number[]).toEqual(seqs.filter((seq) => seq > after));
}, 30_000);

test("a reader that goes, or whose time is up, ends its watching and not the task", async () => {
  using client = grpcClient(server.grpc);
  const stream = client.stream("sendStreamingMessage", grpcMessage("wait 60000"));
  const ended = new Promise((resolve) => stream.on("error", resolve));
  const id = taskIn(await firstOf(stream));
  stream.cancel();
  await ended;
  const late = await failureOf(client.call("sendMessage", grpcMessage("wait 60000"), { deadline: Date.now() + 300 }));
  expect(late.code).toBe(status.DEADLINE_EXCEEDED);
  await eventually(async () => readers.count() === 0 || undefined);
  expect((await client.call("getTask", { tenant: "", id })).status.state).toBe(2);
  await client.call("cancelTask", { tenant: "", id, metadata: undefined });
  expect(server.reported).toEqual([]);
});

test("a reader who does not read holds back its stream, not the task or another reader", async () => {
  using slow = grpcClient(server.grpc);
  using client = grpcClient(server.grpc);
  const stream = slow.stream("sendStreamingMessage", grpcMessage("work 400"));
  const id = taskIn(await firstOf(stream.once("data", () => stream.pause())));
  await eventually(async () =>
    (await client.call("getTask", { tenant: "", id })).status.state === 3 ? true : undefined,
  );
  const rest = await Array.fromAsync(stream);
  expect(rest.length).toBeGreaterThan(800);
}, 30_000);

test("a message may be as large as over HTTP, and no larger", async () => {
  using client = grpcClient(server.grpc);
  const file = (bytes: number) => {
    const content = { $case: "raw", value: Buffer.alloc(bytes, 7) };
    return [{ content, metadata: undefined, filename: "big.bin", mediaType: "" }];
  };
  const done = await client.call("sendMessage", grpcMessage("", { parts: file(9 * 1024 * 1024) }));
  expect(done.payload.value.status.state).toBe(3);
  const failure = await failureOf(client.call("sendMessage", grpcMessage("", { parts: file(11 * 1024 * 1024) })));
  expect(failure.code).toBe(status.RESOURCE_EXHAUSTED);
}, 30_000);

test("a stream that is quiet for several heartbeats stays open", async () => {
  using client = grpcClient(server.grpc);
  const states = await Array.fromAsync(client.stream("sendStreamingMessage", grpcMessage("quiet 1500")));
  expect(states.length).toBeGreaterThan(1);
});

test("the journal extension is activated by metadata, and said so", async () => {
  using client = grpcClient(server.grpc);
  const metadata = { "a2a-extensions": "urn:manyhands:journal:1" };
  const stream = client.stream("sendStreamingMessage", grpcMessage("work 1"), { metadata });
  const said = new Promise<unknown>((resolve) =>
    stream.on("metadata", (given) => resolve(given.get("a2a-extensions"))),
  );
  const updates = await Array.fromAsync<StreamResponse>(stream);
  expect(await said).toEqual(["urn:manyhands:journal:1"]);
  expect(JSON.stringify(updates)).toContain("manyhands/event");
});

test("a stop lets calls that end soon finish, and cuts the others off", async () => {
  const stopping = await startAgentServer();
  using client = grpcClient(stopping.grpc);
  const soon = client.call("sendMessage", grpcMessage("wait 100"));
  const stream = client.stream("sendStreamingMessage", grpcMessage("wait 60000"));
  const cut = failureOf(Array.fromAsync(stream));
  await eventually(async () => ((await stopping.engine.list({ limit: 9 })).total === 2 ? true : undefined));
  const stopped = stopping.stop();
  expect((await soon).payload.value.status.state).toBe(3);
  expect([status.CANCELLED, status.UNAVAILABLE, status.INTERNAL]).toContain((await cut).code);
  await stopped;
});
