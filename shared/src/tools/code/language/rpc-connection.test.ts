import { expect, test } from "bun:test";
import { connectRpc } from "./rpc-connection.ts";

/** A program whose bytes a test sends, and what it was written; `kills` counts its ends. */
function program() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, {
    highWaterMark: 1_000,
  });
  const writer = writable.getWriter();
  const state = { written: "", kills: 0 };
  const process = {
    stdin: {
      write(text: string | Uint8Array) {
        state.written += text;
      },
      flush() {},
      end() {},
    },
    stdout: readable,
    kill: () => void state.kills++,
  };
  const framed = (content: object) => {
    const text = JSON.stringify(content);
    return Buffer.from(`Content-Length: ${Buffer.byteLength(text)}\r\nContent-Type: x\r\n\r\n${text}`);
  };
  const connection = connectRpc(process, (method, params) => (method === "ask" ? { got: params } : undefined));
  const says = (bytes: Uint8Array) => writer.write(bytes);
  return { state, connection, framed, says, end: () => writer.close() };
}
const sentBy = ({ written }: { readonly written: string }) =>
  written.split(/Content-Length: \d+\r\n\r\n/).flatMap((text) => (text === "" ? [] : [JSON.parse(text)]));

test.each([1, 7, 10_000])("answers are told apart in pieces of %d bytes, whatever letters they have", async (size) => {
  const { state, connection, framed, says } = program();
  const heard: unknown[] = [];
  connection.on("told", (params) => heard.push(params));
  const [first, second] = [connection.request("a", "für"), connection.request("b", 2)];
  const all = Buffer.concat([
    framed({ method: "told", params: "ü€𝄞" }),
    framed({ id: 2, result: null }),
    framed({ method: "other", params: 1 }),
    framed({ id: 9, result: "nobody asked" }),
    framed({ id: 1, result: "ä" }),
  ]);
  for (let at = 0; at < all.length; at += size) await says(all.subarray(at, at + size));
  expect([await first, await second, heard]).toEqual(["ä", null, ["ü€𝄞"]]);
  expect(sentBy(state)).toEqual([
    { jsonrpc: "2.0", id: 1, method: "a", params: "für" },
    { jsonrpc: "2.0", id: 2, method: "b", params: 2 },
  ]);
  expect(state.written).toContain(
    `Content-Length: ${Buffer.byteLength('{"jsonrpc":"2.0","id":1,"method":"a","params":"für"}')}\r\n`,
  );
});

test("what the program asks is answered, also with nothing, and its errors are told", async () => {
  const { state, connection, framed, says } = program();
  const failing = connection.request("a", {});
  await says(framed({ id: "x", method: "ask", params: 1 }));
  await says(framed({ id: 0, method: "unknown" }));
  await says(framed({ id: 1, error: { message: "no".repeat(400) } }));
  await expect(failing).rejects.toMatchObject({
    code: "rejected",
    message: `The language server says: ${"no".repeat(150)}`,
  });
  connection.notify("done", 1);
  expect(sentBy(state).slice(1)).toEqual([
    { jsonrpc: "2.0", id: "x", result: { got: 1 } },
    { jsonrpc: "2.0", id: 0, result: null },
    { jsonrpc: "2.0", method: "done", params: 1 },
  ]);
});

test("once the program has ended whoever waits is told, and nothing is asked any more", async () => {
  const { state, connection, end } = program();
  const waiting = connection.request("a", {});
  await end();
  const ended = { code: "unavailable", message: "The language server ended." };
  await expect(waiting).rejects.toMatchObject(ended);
  await expect(connection.ended).rejects.toMatchObject(ended);
  const written = state.written;
  await expect(connection.request("b", {})).rejects.toMatchObject(ended);
  connection.notify("c", {});
  expect([state.written, state.kills]).toEqual([written, 0]);
});

test.each([
  ["no length", "X: 1\r\n\r\n{}"],
  ["no JSON", "Content-Length: 2\r\n\r\n{x"],
])("a program whose answer has %s is ended", async (_, text) => {
  const { state, connection, says } = program();
  const waiting = connection.request("a", {});
  await says(Buffer.from(text));
  await expect(waiting).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("cannot be read"),
  });
  expect(state.kills).toBe(1);
});
