import { expect, test } from "bun:test";
import { connect as http2 } from "node:http2";
import { connect } from "node:net";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { type GrpcServed, serveGrpc } from "../../shared/src/a2a/server/grpc/serve-grpc.ts";
import { callerNamed } from "../../shared/src/core/caller.ts";

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
    socket.write(Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(settings, 0, 0)]));
    // POST and http, by their numbers in HPACK's table.
    const fields = [
      literal(":path", "/lf.a2a.v1.A2AService/GetTask"),
      literal(":authority", "a"),
      literal("content-type", "application/grpc"),
    ];
    const block = Buffer.concat([Buffer.from([0x83, 0x86]), ...fields]);
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
