import { expect, test } from "bun:test";
import { connect as http2 } from "node:http2";
import { connect } from "node:net";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { type GrpcServed, serveGrpc } from "../../shared/src/a2a/server/grpc/serve-grpc.ts";
import { callerNamed } from "../../shared/src/core/caller.ts";

const data = 0;
const headers = 1;
const settings = 4;

/** A frame of HTTP/2. */
function frame(type: number, flags: number, stream: number, payload: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header that HPACK leaves as it is. */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
}

// POST and http, by their numbers in HPACK's table.
const block = Buffer.concat([
  Buffer.from([0x83, 0x86]),
  literal(":path", "/lf.a2a.v1.A2AService/GetTask"),
  literal(":authority", "a"),
  literal("content-type", "application/grpc"),
]);
const preface = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(settings, 0, 0)]);

async function serving(): Promise<GrpcServed> {
  const handlerOf = () => ({}) as A2ARequestHandler;
  const identify = () => callerNamed("ann");
  return await serveGrpc({ port: 0, hostname: "127.0.0.1", identify, report: () => undefined, handlerOf });
}

test("a stranger who opens streams without end and sends nothing in them is cut off", async () => {
  const served = await serving();
  try {
    const socket = connect(served.port, "127.0.0.1");
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => undefined);
    socket.resume();
    socket.write(preface);
    let opened = 0;
    for (const end = performance.now() + 20_000; performance.now() < end && !socket.destroyed && opened < 20_000; ) {
      const some = Array.from({ length: 100 }, (_, at) => frame(headers, 4, 2 * (opened + at) + 1, block));
      opened += some.length;
      const isTaken = new Promise((resolve) => socket.write(Buffer.concat(some), resolve));
      await Promise.race([isTaken, closed]);
    }
    await Promise.race([closed, Bun.sleep(5_000)]);
    expect(socket.destroyed).toBe(true);
  } finally {
    await served.stop(0);
  }
});

test("a stranger who makes calls without end, in one piece, does not keep the server from others", async () => {
  const served = await serving();
  const busy = () => process.cpuUsage().user / 1_000;
  let [last, longest] = [busy(), 0];
  const timer = setInterval(() => {
    longest = Math.max(longest, busy() - last);
    last = busy();
  }, 5);
  try {
    const calls = Array.from({ length: 40_000 }, (_, at) => {
      const stream = 2 * at + 1;
      return Buffer.concat([frame(headers, 4, stream, block), frame(data, 1, stream, Buffer.alloc(5))]);
    });
    const burst = Buffer.concat([preface, ...calls]);
    [last, longest] = [busy(), 0];
    const socket = connect(served.port, "127.0.0.1");
    const isOver = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => undefined);
    socket.resume();
    socket.write(burst);
    await Promise.race([isOver, Bun.sleep(15_000)]);
    socket.destroy();
    expect(longest).toBeLessThan(700);
  } finally {
    clearInterval(timer);
    await served.stop(0);
  }
}, 60_000);

test("a client is told how many calls it may make at once", async () => {
  const served = await serving();
  const session = http2(`http://127.0.0.1:${served.port}`);
  try {
    const told = await new Promise<number | undefined>((resolve) =>
      session.once("remoteSettings", ({ maxConcurrentStreams }) => resolve(maxConcurrentStreams)),
    );
    expect(told).toBe(1_000);
  } finally {
    session.destroy();
    await served.stop(0);
  }
});
