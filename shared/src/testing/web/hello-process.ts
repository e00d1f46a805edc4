import { Hono } from "hono";

/** The least that a server of this kind costs: one route on Hono and Bun. */
const app = new Hono().get("/", (c) => c.json({ hello: "world" }));
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: app.fetch });
process.stdout.write(`ready ${server.url.href}\n`);
