import { expect, test } from "bun:test";
import { connect } from "node:net";
import { Hono } from "hono";
import { AppError } from "../core/errors.ts";
import { bodyOf, jsonBody, limitedBody, longestBody, refuseBrokenOff } from "./request-body.ts";
import { serve } from "./serve.ts";

const app = new Hono();
app.use("/limited", limitedBody());
app.use("/json", jsonBody);
app.post("/limited", async (c) => c.text(String((await c.req.arrayBuffer()).byteLength)));
app.post("/json", (c) => c.text("read"));
app.post("/soon", async (c) => c.text(String((await bodyOf(c, 20)).byteLength)));
const failures: string[] = [];
app.onError((error, c) => {
  const failure = error instanceof AppError ? error.code : error.name;
  failures.push(failure);
  return c.text(failure, 400);
});

const post = async (
  path: string,
  body: string | Uint8Array<ArrayBuffer> | ReadableStream,
  headers: Record<string, string> = {},
) => (await app.request(path, { method: "POST", body, headers })).text();

function stream(length: number) {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(length - 1));
      controller.enqueue(new Uint8Array(1));
      controller.close();
    },
  });
}

test("a body of 10 MB is read, one byte more is refused, whether or not its length is announced", async () => {
  const announced = (length: number) => post("/limited", new Uint8Array(length), { "Content-Length": `${length}` });
  expect(await announced(longestBody)).toBe("10485760");
  expect(await announced(longestBody + 1)).toBe("too_large");
  expect(await post("/limited", stream(longestBody))).toBe("10485760");
  expect(await post("/limited", stream(longestBody + 1))).toBe("too_large");
});

test("a packed body is refused as such, whatever packs it", async () => {
  const packed = (coding: string) => post("/limited", Bun.gzipSync("{}"), { "Content-Encoding": coding });
  for (const coding of ["gzip", "br", "identity, gzip"]) expect(await packed(coding)).toBe("unsupported");
  expect(await post("/limited", "{}", { "Content-Encoding": "Identity" })).toBe("2");
});

test("a length beside pieces of unknown length counts for nothing", async () => {
  const headers = { "Content-Length": "5", "Transfer-Encoding": "chunked" };
  expect(await post("/limited", stream(longestBody + 1), headers)).toBe("too_large");
  expect(await post("/limited", stream(7), headers)).toBe("7");
});

test.each([{}, { "Content-Length": "5" }])("a body that breaks off is its sender's fault: %j", async (headers) => {
  const broken = (error: Error) => new ReadableStream({ pull: (controller) => controller.error(error) });
  expect(await post("/limited", broken(new DOMException("gone", "AbortError")), headers)).toBe("invalid_input");
  expect(await post("/limited", broken(new RangeError("a bug")), headers)).toBe("RangeError");
});

test.each([{}, { "Content-Length": "5" }])(
  "a body that does not arrive is waited for only so long: %j",
  async (headers) => {
    const begun = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(3)) });
    expect(await post("/soon", begun, headers)).toBe("invalid_input");
    expect(await post("/soon", "12345", headers)).toBe("5");
  },
);

test("only a client that went away is told that its request broke off", () => {
  expect(() => refuseBrokenOff(new DOMException("gone", "AbortError"))).toThrow(AppError);
  refuseBrokenOff(new DOMException("late", "TimeoutError"));
  refuseBrokenOff(Object.assign(new Error("gone"), { name: "AbortError" }));
});

test.each([
  ["application/json", true],
  ["Application/JSON; charset=utf-8", true],
  ["application/json ;charset=utf-8", true],
  ["application/a2a+json", true],
  ["application/vnd.x-y.z+json", true],
  ["text/plain", false],
  ["text/plain; application/json", false],
  ["text/application/json", false],
  ["application/jsonp", false],
  ["application/json-seq", false],
  ["application/x-www-form-urlencoded", false],
])("a body of the type %s is read as JSON: %p", async (type, read) => {
  expect(await post("/json", "{}", { "Content-Type": type })).toBe(read ? "read" : "ContentTypeNotSupportedError");
});

test("a body whose type nobody named is read as JSON", async () => {
  const response = await app.request("/json", { method: "POST", body: new Uint8Array([0x7b, 0x7d]) });
  expect(await response.text()).toBe("read");
});

test("a body in pieces of one byte keeps its server from nobody, and one without end is broken off", async () => {
  const served = serve({ fetch: (request) => app.fetch(request) }, { port: 0 });
  const socket = connect(Number(served.url.port), "127.0.0.1");
  try {
    let answer = "";
    socket.on("data", (data) => {
      answer += data;
    });
    socket.on("error", () => undefined);
    const isClosed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    const head = "POST /limited HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    const before = process.cpuUsage().user;
    failures.length = 0;
    socket.write(`${head}${"1\r\nx\r\n".repeat(1_000_000)}0\r\n\r\n`);
    while (!answer.includes("1000000") && !socket.destroyed) await Bun.sleep(5);
    expect(process.cpuUsage().user - before).toBeLessThan(350_000);
    const piece = `100000\r\n${"x".repeat(2 ** 20)}\r\n`;
    socket.write(head);
    for (let sent = 0; sent < 50 && !socket.destroyed; sent++)
      await Promise.race([new Promise((resolve) => socket.write(piece, resolve)), isClosed]);
    await isClosed;
    expect(answer).toContain("HTTP/1.1 413 ");
    expect(failures).toEqual(["too_large"]);
  } finally {
    socket.destroy();
    await served.stop();
  }
});
