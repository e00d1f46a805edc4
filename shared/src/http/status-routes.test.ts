import { expect, test } from "bun:test";
import { connect } from "node:net";
import { callerNamed, type Scope } from "../core/caller.ts";
import { AppError } from "../core/errors.ts";
import type { EngineHealth } from "../core/runs/engine.ts";
import { serve } from "./serve.ts";
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

test("probes without end in one piece keep the server from nobody", async () => {
  const health = { ok: true } as const;
  const app = statusApp({
    ...{ agent: "swe", version: "1", facts: {}, engine: { health: () => health } },
    ...{ metrics: {} as never, identify: () => callerNamed("alice") },
  });
  const served = serve({ fetch: (request) => app.fetch(request) }, { port: 0 });
  const busy = () => process.cpuUsage().user / 1_000;
  let [last, longest] = [busy(), 0];
  const timer = setInterval(() => {
    longest = Math.max(longest, busy() - last);
    last = busy();
  }, 5);
  const socket = connect(Number(served.url.port), "127.0.0.1");
  try {
    const isClosed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    const burst = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n".repeat(600_000);
    let answers = 0;
    socket.on("data", (data) => {
      answers += String(data).split("HTTP/1.1 200").length - 1;
    });
    socket.on("error", () => undefined);
    [last, longest] = [busy(), 0];
    socket.write(burst);
    const isAnswered = async () => {
      while (answers < 600_000) await Bun.sleep(5);
    };
    await Promise.race([isClosed, isAnswered(), Bun.sleep(5_000)]);
    expect(longest).toBeLessThan(45);
  } finally {
    clearInterval(timer);
    socket.destroy();
    await served.stop();
  }
}, 30_000);
