import { expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { connect as http2, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetTaskRequest, Task } from "@a2a-js/sdk";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import { type ChannelCredentials, Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { callerNamed } from "../../../core/caller.ts";
import { hasOpenssl, testAuthority } from "../../../testing/certificates.ts";
import * as calls from "./grpc-call.ts";
import { type GrpcOptions, serveGrpc } from "./serve-grpc.ts";

/** A server whose `getTask` answers so, on a free port. */
async function serving(getTask: A2ARequestHandler["getTask"], over: Partial<GrpcOptions> = {}) {
  return await serveGrpc({
    port: 0,
    hostname: "127.0.0.1",
    identify: () => callerNamed("ann"),
    report: () => undefined,
    handlerOf: () => ({ getTask }) as unknown as A2ARequestHandler,
    ...over,
  });
}
const small: A2ARequestHandler["getTask"] = async ({ id }) => Task.fromJSON({ id, contextId: "c" });

/** The task with the id `t`, asked for at this address. */
async function ask(
  address: string,
  secured: ChannelCredentials = credentials.createInsecure(),
  id = "t",
): Promise<Task> {
  const client = new Client(address, secured, {
    "grpc.max_receive_message_length": -1,
    "grpc.ssl_target_name_override": "agents.example.com",
  });
  const { path, requestSerialize, responseDeserialize } = A2AService.getTask;
  const { promise, resolve, reject } = Promise.withResolvers<Task>();
  const metadata = new Metadata();
  metadata.set("a2a-version", "1.0");
  const done = (error: ServiceError | null, task?: Task) => (error === null && task ? resolve(task) : reject(error));
  const request = GetTaskRequest.fromJSON({ tenant: "", id });
  client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, {}, done);
  return await promise.finally(() => client.close());
}

test("an answer may be larger than what a request may be", async () => {
  const text = "x".repeat(11 * 1024 * 1024);
  const artifacts = [{ artifactId: "a", parts: [{ text }] }];
  const served = await serving(async ({ id }) => Task.fromJSON({ id, contextId: "c", artifacts }));
  const task = await ask(`127.0.0.1:${served.port}`);
  expect(task.artifacts[0]?.parts[0]?.content?.value === text).toBe(true);
  const tooLarge = ask(`127.0.0.1:${served.port}`, undefined, text);
  await expect(tooLarge).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  await served.stop(0);
});

/** What a server answers to bytes that are sent as the request of `getTask`. */
async function refusalOf(port: number, frame: Buffer, headers: OutgoingHttpHeaders = {}) {
  const session = http2(`http://127.0.0.1:${port}`);
  const fixed = { ":method": "POST", "content-type": "application/grpc", te: "trailers", "a2a-version": "1.0" };
  const stream = session.request({ ":path": A2AService.getTask.path, ...fixed, ...headers });
  const answer = new Promise<IncomingHttpHeaders>((resolve) => {
    stream.on("response", (headers) => "grpc-status" in headers && resolve(headers));
    stream.on("trailers", resolve);
  });
  stream.resume().write(frame);
  const { "grpc-status": code, "grpc-status-details-bin": details } = await answer;
  session.destroy();
  return { code: Number(code), details: Buffer.from(String(details), "base64").toString() };
}

/** A message with its length before it. */
function framed(message: Uint8Array, length = message.length, isCompressed = false): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(isCompressed ? 1 : 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

test("what the library refuses by itself has ErrorInfo as any other failure", async () => {
  const held = await serving(() => new Promise(() => undefined));
  const { port } = held;
  const bomb = framed(Bun.gzipSync(new Uint8Array(11 * 1024 * 1024)), undefined, true);
  const whole = framed(A2AService.getTask.requestSerialize(GetTaskRequest.fromJSON({ tenant: "", id: "t" })));
  for (const [frame, headers, code, reason] of [
    [framed(new Uint8Array(1), 11 * 1024 * 1024), {}, status.RESOURCE_EXHAUSTED, "TOO_LARGE"],
    [bomb, { "grpc-encoding": "gzip" }, status.RESOURCE_EXHAUSTED, "TOO_LARGE"],
    [framed(new Uint8Array(3), 3, true), { "grpc-encoding": "gzip" }, status.INVALID_ARGUMENT, "INVALID_INPUT"],
    [framed(new Uint8Array(3), 3, true), { "grpc-encoding": "br" }, status.UNIMPLEMENTED, "UNSUPPORTED"],
    [whole, { "grpc-timeout": "20m" }, status.DEADLINE_EXCEEDED, "TIMEOUT"],
    [whole, { "grpc-timeout": "soon" }, status.INVALID_ARGUMENT, "INVALID_INPUT"],
  ] as const) {
    const refusal = await refusalOf(port, frame, headers);
    expect([refusal.code, refusal.details]).toEqual([code, expect.stringContaining("google.rpc.ErrorInfo")]);
    expect(refusal.details).toContain(reason);
  }
  await held.stop(0);
});

test("it listens on an address of IPv6 too", async () => {
  const served = await serving(small, { hostname: "::1" });
  expect((await ask(`[::1]:${served.port}`)).id).toBe("t");
  await served.stop(0);
});

test.skipIf(!hasOpenssl)("TLS without an authority for clients asks no client for a certificate", async () => {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-grpc-"));
  const { issue } = await testAuthority(folder);
  await issue("server", { names: "DNS:agents.example.com" });
  const [cert, key, ca] = await Promise.all(
    ["server.pem", "server.key", "ca.pem"].map((name) => Bun.file(join(folder, name)).text()),
  );
  const served = await serving(small, { tls: { cert: cert ?? "", key: key ?? "" } });
  expect((await ask(`127.0.0.1:${served.port}`, credentials.createSsl(Buffer.from(ca ?? "")))).id).toBe("t");
  await served.stop(0);
  await rm(folder, { recursive: true });
});

/** The frames' types that the server sends to a client which says nothing but that it is there. */
function silentClient(port: number): { readonly types: number[]; readonly socket: Socket } {
  const types: number[] = [];
  let rest = Buffer.alloc(0);
  const socket = connect(port, "127.0.0.1", () => {
    const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    socket.write(Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), settings]));
  });
  socket.on("data", (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    for (
      ;
      rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3);
      rest = rest.subarray(9 + rest.readUIntBE(0, 3))
    )
      types.push(rest[3] ?? -1);
  });
  return { types, socket };
}
const ping = 6;

test("a client that is not there any more is noticed by a ping it does not answer, and let go", async () => {
  const served = await serving(small, { heartbeatMs: 20, answerMs: 20 });
  const { types, socket } = silentClient(served.port);
  await new Promise((resolve) => socket.once("close", resolve));
  expect(types).toContain(ping);
  await served.stop(0);
});

test("a connection whose client is gone has nobody who could be known, so its call is refused", async () => {
  const asked: unknown[] = [];
  const guard = (...ends: unknown[]) => void asked.push(ends);
  const served = await serving(small, { guard });
  expect((await ask(`127.0.0.1:${served.port}`)).id).toBe("t");
  using _ = spyOn(calls, "clientEnd").mockReturnValue(undefined);
  await expect(ask(`127.0.0.1:${served.port}`)).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
  const own = { address: "127.0.0.1", port: served.port };
  expect(asked).toEqual([[{ address: "127.0.0.1", port: expect.any(Number) }, own]]);
  await served.stop(0);
});

test("a stop waits as long as it may, and no longer than there are calls", async () => {
  const begun = Promise.withResolvers<void>();
  const held = await serving(() => {
    begun.resolve();
    return new Promise(() => undefined);
  });
  const cut = ask(`127.0.0.1:${held.port}`).catch((error: ServiceError) => error.code);
  await begun.promise;
  await held.stop(1);
  expect([status.CANCELLED, status.UNAVAILABLE, status.INTERNAL]).toContain((await cut) as number);

  using set = spyOn(globalThis, "setTimeout");
  using cleared = spyOn(globalThis, "clearTimeout");
  const idle = await serving(small);
  await idle.stop(54_321);
  const at = set.mock.calls.findIndex(([, ms]) => ms === 54_321);
  const timer = set.mock.results[at]?.value as ReturnType<typeof setTimeout>;
  expect(cleared.mock.calls.flat()).toContain(timer);
});
