import { expect, test } from "bun:test";
import { Hono } from "hono";
import { crossOrigin } from "./cross-origin.ts";

const site = "https://console.example";

function appFor(...origins: readonly string[]) {
  const app = new Hono();
  app.use(crossOrigin(origins));
  app.get("/", (c) => c.text("hi"));
  return app;
}

const listed = (headers: Headers, name: string) => headers.get(name)?.split(/, */).toSorted();

test("a page of a named origin may send and read every header that our protocols use", async () => {
  const app = appFor("https://other.example", site);
  const asked = { Origin: site, "Access-Control-Request-Method": "POST" };
  const { headers } = await app.request("/", { method: "OPTIONS", headers: asked });
  expect(headers.get("Access-Control-Allow-Origin")).toBe(site);
  expect(headers.get("Access-Control-Max-Age")).toBe("600");
  expect(headers.get("Access-Control-Allow-Credentials")).toBeNull();
  expect(listed(headers, "Access-Control-Allow-Methods")).toEqual(["DELETE", "GET", "POST"]);
  expect(listed(headers, "Access-Control-Allow-Headers")).toEqual([
    "A2A-Extensions",
    "A2A-Version",
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "If-None-Match",
    "Last-Event-ID",
    "Manyhands-Context",
    "Manyhands-Principal",
    "Mcp-Method",
    "Mcp-Name",
    "Mcp-Protocol-Version",
    "Mcp-Session-Id",
    "Prefer",
    "Traceparent",
    "Tracestate",
    "X-A2A-Extensions",
    "X-API-Key",
  ]);
  const answer = await app.request("/", { headers: { Origin: site } });
  expect(listed(answer.headers, "Access-Control-Expose-Headers")).toEqual([
    "A2A-Extensions",
    "ETag",
    "Location",
    "Mcp-Session-Id",
    "Preference-Applied",
    "Retry-After",
    "WWW-Authenticate",
    "X-A2A-Extensions",
  ]);
});

test("a page of another origin may not read, and where none is named none may", async () => {
  for (const app of [appFor(site), appFor()]) {
    const answer = await app.request("/", { headers: { Origin: "https://evil.example" } });
    expect([await answer.text(), answer.headers.get("Access-Control-Allow-Origin")]).toEqual(["hi", null]);
  }
});
