import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { Hono } from "hono";
import { loopbackGuard } from "./loopback-guard.ts";
import { type Served, serve } from "./serve.ts";

let served: Served;
beforeAll(() => {
  const app = new Hono();
  app.onError((error) => Response.json({ message: error.message }, { status: 403 }));
  app.notFound((c) => c.json({}, 404));
  app.use(loopbackGuard("http://127.0.0.1:4100"));
  app.get("/runs/:id", (c) =>
    c.json({ id: c.req.param("id"), path: new URL(c.req.url).pathname, q: c.req.query("q") }),
  );
  app.post("/runs/:id", async (c) => c.json({ sent: await c.req.text(), type: c.req.header("Content-Type") }));
  served = serve(app, { port: 0 });
});
afterAll(() => served.stop());

/** The status and body of what is answered to these lines. */
function answerTo(...lines: readonly string[]): Promise<{ readonly status: number; readonly body: unknown }> {
  const { promise, resolve } = Promise.withResolvers<{ status: number; body: unknown }>();
  let text = "";
  const socket = connect(Number(served.url.port), "127.0.0.1", () => socket.write(lines.join("\r\n")));
  socket.on("data", (bytes) => {
    text += bytes;
    const [head = "", body = ""] = text.split("\r\n\r\n");
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (!text.includes("\r\n\r\n") || body.length < length) return;
    socket.destroy();
    resolve({ status: Number(head.split(" ")[1]), body: body === "" ? undefined : JSON.parse(body) });
  });
  return promise;
}

test.each<[string, ...string[]]>([
  ["GET /runs/r1?q=a HTTP/1.0"],
  ["GET /runs/r1?q=a HTTP/1.0", "Host:"],
  ["GET /runs/r1?q=a HTTP/1.1", "Host:"],
  ["GET http://elsewhere.example/runs/r1?q=a HTTP/1.0"],
])("%s %s without a host is a request to the server itself", async (...lines) => {
  const body = { id: "r1", path: "/runs/r1", q: "a" };
  expect(await answerTo(...lines, "", "")).toEqual({ status: 200, body });
});

test("what a request without a host brings arrives", async () => {
  const lines = ["POST /runs/r1 HTTP/1.0", "Content-Type: text/plain", "Content-Length: 4", "", "word"];
  expect(await answerTo(...lines)).toEqual({ status: 200, body: { sent: "word", type: "text/plain" } });
});

test("a client without a host that goes is noticed", async () => {
  const gone = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const hanging = serve(
    {
      fetch({ signal }) {
        signal.addEventListener("abort", () => gone.resolve());
        begun.resolve();
        return new Promise<Response>(() => undefined);
      },
    },
    { port: 0, graceMs: 0 },
  );
  const socket = connect(Number(hanging.url.port), "127.0.0.1", () => socket.write("GET / HTTP/1.0\r\n\r\n"));
  await begun.promise;
  socket.destroy();
  await gone.promise;
  await hanging.stop();
});

test("a path without a host that looks like an address is a path", async () => {
  expect((await answerTo("GET //elsewhere.example/runs/r1 HTTP/1.0", "", "")).status).toBe(404);
  expect((await answerTo("GET /a:bc/runs/r1 HTTP/1.0", "", "")).status).toBe(404);
});

test.each(["a b", "x/y?z", "user@x", "x:99999", "é", "127.0.0.1, elsewhere.example", "[::1"])(
  "%s is no host that a request can be sent to",
  async (host) => {
    const { status, body } = await answerTo("GET /runs/r1 HTTP/1.1", `Host: ${host}`, "", "");
    expect([status, body]).toEqual([400, { code: "invalid_input", message: expect.stringContaining("Host") }]);
  },
);

test("of two hosts none is the one that was meant", async () => {
  const lines = ["GET /runs/r1 HTTP/1.1", "Host: 127.0.0.1", "Host: elsewhere.example", "", ""];
  expect((await answerTo(...lines)).status).toBe(400);
});
