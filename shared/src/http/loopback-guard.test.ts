import { expect, test } from "bun:test";
import { Hono } from "hono";
import { AppError, errorCodes } from "../core/errors.ts";
import { isLoopback, loopbackGuard } from "./loopback-guard.ts";

const app = new Hono();
app.onError(
  (error) => new Response(error.message, { status: error instanceof AppError ? errorCodes[error.code].status : 500 }),
);
app.use(loopbackGuard("https://team.example/agent"));
app.get("/", () => new Response("here"));

test.each([
  ["127.0.0.1:4100", "nowhere", 200],
  ["localhost:4100", "http://localhost:4100", 200],
  ["localhost:4100", "https://localhost:4100", 200],
  ["team.example", "https://team.example", 200],
  ["evilteam.example", "nowhere", 403],
  ["127.0.0.1:4100", "https://team.example", 200],
  ["127.0.0.1:4100", "https://team.example.evil.test", 403],
  ["127.0.0.1:4100", "https://team.exampl", 403],
  ["127.0.0.1:4100", "http://team.example", 403],
  ["127.0.0.1:4100", "http://127.0.0.1:4101", 403],
  ["127.0.0.1:4100", "null", 403],
  ["evil.test", "https://team.example", 403],
  ["team.example.evil.test", "nowhere", 403],
  ["evil.test:4100", "http://evil.test:4100", 403],
  ["[", "nowhere", 403],
])("a request to %s from a page of %s is answered with %i", async (host, origin, status) => {
  const headers = { host, ...(origin !== "nowhere" && { origin }) };
  expect((await app.request("/", { headers })).status).toBe(status);
});

test.each([
  [{ host: "box.lan" }, "public_url"],
  [{ host: "localhost", origin: "https://app.example" }, "[server] cors"],
])("a refusal names the setting with which %j would be answered", async (headers, setting) => {
  expect(await (await app.request("/", { headers })).text()).toContain(setting);
});

test.each([
  ["localhost", true],
  ["127.0.0.1", true],
  ["127.8.0.1", true],
  ["::1", true],
  ["[::1]", true],
  ["0.0.0.0", false],
  ["10.127.0.1", false],
  ["169.254.127.0", false],
  ["127.0.0.1.evil.test", false],
  ["127.evil.test", false],
  ["", false],
])("whether %s is this machine's loopback: %p", (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
