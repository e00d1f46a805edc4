import { expect, test } from "bun:test";
import { createServer } from "node:http";
import { reply } from "../../testing/models/reply.ts";
import { modelConfigSchema } from "../config.ts";
import { createModel } from "../create-model.ts";
import { readStream } from "./read-stream.ts";

/**
 * What a response with these pieces of a body is read as, one list for each that said something.
 */
async function read(...pieces: readonly string[]): Promise<(readonly unknown[])[]> {
  const encoder = new TextEncoder();
  async function* body() {
    for (const piece of pieces) {
      yield encoder.encode(piece);
      await Bun.sleep(1);
    }
  }
  return Array.fromAsync(readStream(new Response(body())));
}

test("chunks are read wherever the stream is cut, with any line ends, and what arrives together comes together", async () => {
  expect(await read('data: {"a":1}\n\ndata: {"a":2}\n\n', "data: [DONE]\n\n")).toEqual([[{ a: 1 }, { a: 2 }]]);
  expect(await read("da", 'ta: {"a":', '"ü"}\r\n\r', '\n: a comment\n\ndata: {"b":2}\n\n')).toEqual([
    [{ a: "ü" }, { b: 2 }],
  ]);
  const umlaut = [...new TextEncoder().encode('data: {"a":"ü"}\n\n')];
  // A generator's pieces may arrive together; those of a stream that is pulled do not.
  const bytes = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const byte = umlaut.shift();
      if (byte === undefined) controller.close();
      else controller.enqueue(new Uint8Array([byte]));
    },
  });
  expect(await Array.fromAsync(readStream(new Response(bytes)))).toEqual([[{ a: "ü" }]]);
});

test("the last chunk counts without the empty line after it, and nothing counts after the end", async () => {
  expect(await read('data: {"a":1}')).toEqual([[{ a: 1 }]]);
  expect(await read('data: {"a":1}\n\ndata: [DONE]\n\ndata: {"a":2}\n\n')).toEqual([[{ a: 1 }]]);
  expect(await read("")).toEqual([]);
});

test("an error in the stream, in either form, is thrown", async () => {
  expect(read('event: error\ndata: {"message":"overloaded"}\n\n')).rejects.toMatchObject({
    error: { message: "overloaded" },
  });
  expect(read('data: {"error":{"message":"overloaded"}}\n\n')).rejects.toMatchObject({
    error: { message: "overloaded" },
  });
  // What its response says of when to come again counts for it too.
  const headers = { "retry-after": "7" };
  const late = Array.fromAsync(readStream(new Response('data: {"error":{"message":"busy"}}\n\n', { headers })));
  const error = await late.catch((failure: { headers?: Headers }) => failure);
  expect((error as { headers?: Headers }).headers?.get("retry-after")).toBe("7");
  expect(read("data: {not json\n\n")).rejects.toBeInstanceOf(SyntaxError);
});

test("requests of one model one after another use one connection, also when the end comes after the answer", async () => {
  let connections = 0;
  const answer = `data: ${JSON.stringify({ choices: [{ delta: { content: "Hi" }, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.setHeader("content-type", "text/event-stream");
      response.write(answer);
      setTimeout(() => response.end(), 20);
    });
  }).on("connection", () => connections++);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as { port: number };
  const model = createModel(modelConfigSchema.parse({ name: "any", baseUrl: `http://127.0.0.1:${port}/v1` }));
  const request = {
    messages: [{ role: "user", parts: [{ type: "text", text: "Hello" }] }],
    tools: [],
    toolChoice: "auto",
  } as const;
  try {
    for (let n = 0; n < 5; n++) {
      expect((await reply(model, request, { signal: AbortSignal.timeout(60_000) })).text).toBe("Hi");
      await Bun.sleep(60);
    }
    expect(connections).toBe(1);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
