import { expect, test } from "bun:test";
import { callerNamed, type Scope } from "../core/caller.ts";
import { AppError } from "../core/errors.ts";
import type { EngineHealth } from "../core/runs/engine.ts";
import { statusApp } from "./status-routes.ts";

function appWith(storage: EngineHealth, granted: readonly Scope[] = [], facts = {}, unready?: () => string[]) {
  const app = statusApp({
    agent: "swe",
    version: "1.2.3",
    facts,
    engine: { health: () => storage },
    unready,
    metrics: { text: async () => "runs 1\n" } as never,
    identify: () => callerNamed("alice", granted),
  });
  app.onError((error, c) => c.text(error instanceof AppError ? error.code : "bug", 400));
  return async (path: string) => {
    const response = await app.request(path);
    if (path === "/metrics" && response.ok) expect(response.headers.get("content-type")).toContain("version=0.0.4");
    const text = await response.text();
    return [response.status, text.startsWith("{") ? JSON.parse(text) : text] as const;
  };
}

test("a server whose storage fails is alive, not ready, and says why", async () => {
  const get = appWith({ ok: false, reason: "The disk is full." });
  const about = { agent: "swe", version: "1.2.3" };
  expect(await get("/healthz")).toEqual([
    200,
    { ok: false, ...about, storage: { ok: false, reason: "The disk is full." } },
  ]);
  expect(await get("/readyz")).toEqual([503, { ready: false, reasons: ["The disk is full."] }]);
  const healthy = appWith({ ok: true }, [], {
    ...{ sandbox: "bwrap", sandboxProfile: "strict", model: { name: "m" } },
    mcp: () => ({ files: "up" }),
  });
  const told = { ...about, sandbox: "bwrap", sandboxProfile: "strict", model: { name: "m" }, mcp: { files: "up" } };
  expect(await healthy("/healthz")).toEqual([200, { ok: true, ...told, storage: { ok: true } }]);
  expect(await healthy("/readyz")).toEqual([200, { ready: true }]);
});

test("a server to which no work should be sent is healthy, not ready, and gives every reason", async () => {
  const get = appWith({ ok: true }, [], {}, () => ["No agent is up.", "Nor will one be."]);
  expect((await get("/healthz"))[0]).toBe(200);
  expect(await get("/readyz")).toEqual([503, { ready: false, reasons: ["No agent is up.", "Nor will one be."] }]);
  const full = appWith({ ok: false, reason: "The disk is full." }, [], {}, () => ["No agent is up."]);
  expect((await full("/readyz"))[1].reasons).toEqual(["The disk is full.", "No agent is up."]);
});

test("the metrics are for callers that may read", async () => {
  expect(await appWith({ ok: true }, ["read"])("/metrics")).toEqual([200, "runs 1\n"]);
  expect(await appWith({ ok: true }, ["run"])("/metrics")).toEqual([400, "forbidden"]);
});
