import { Hono } from "hono";
import { streamSSE } from "hono/streaming";

/**
 * What Hono alone takes to stream: as many events as asked for, each with an id and as many
 * characters of data, from nowhere. Prints its address. For the bench of A2A.
 */
const app = new Hono();
app.get("/stream", (c) => {
  const events = Number(c.req.query("events"));
  const data = JSON.stringify("x".repeat(Number(c.req.query("characters"))));
  return streamSSE(c, async (stream) => {
    for (let n = 1; n <= events; n++) await stream.writeSSE({ id: String(n), data });
  });
});
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: app.fetch });
console.log(`ready http://127.0.0.1:${server.port}`);
process.once("SIGTERM", () => server.stop(true));
