import { Hono } from "hono";
import { type Identify, requireScope } from "../core/caller.ts";
import type { Engine } from "../core/runs/engine.ts";
import type { Metrics } from "./metrics.ts";
import { takingTurns } from "./turns.ts";

/** What the status routes report. */
export type StatusDeps = {
  readonly agent: string;
  readonly version: string;
  /** Facts about the server; omitted ones are not reported. */
  readonly facts: {
    readonly model?: object;
    readonly sandbox?: string;
    readonly sandboxProfile?: string;
    readonly mcp?: () => object;
    /** The `homeMark` of its home. */
    readonly home?: string | undefined;
  };
  readonly engine: Pick<Engine, "health">;
  /**
   * Why no work should be sent here although the store takes it; answers at once, as probes ask
   * often. Nothing if left out.
   */
  readonly unready?: (() => readonly string[]) | undefined;
  readonly metrics: Metrics;
  /** Who may read the metrics: callers with the scope `read`. */
  readonly identify: Identify;
};

/**
 * `/healthz` answers 200 while the process can answer, and reports everything, such as what is
 * wrong with the store: another start fixes no database, so it is no reason for one. `/readyz` says
 * whether to send work here, and why not; `/metrics` the numbers, to known callers. Neither of the
 * first two waits for anything but its own turn, of which they have more than other requests. A
 * server that drains answers none of them: it accepts no connection.
 */
export function statusApp({ agent, version, facts, engine, unready, metrics, identify }: StatusDeps): Hono {
  const app = new Hono();
  const turns = takingTurns();
  app.get("/healthz", turns, (c) => {
    const storage = engine.health();
    const { home, model, sandbox, sandboxProfile, mcp } = facts;
    const servers = mcp?.();
    const about = { agent, version, home, model, sandbox, sandboxProfile, storage, ...(servers && { mcp: servers }) };
    return c.json({ ok: storage.ok, ...about });
  });
  app.get("/readyz", turns, (c) => {
    const storage = engine.health();
    const reasons = [...(storage.ok ? [] : [storage.reason]), ...(unready?.() ?? [])];
    return reasons.length === 0 ? c.json({ ready: true }) : c.json({ ready: false, reasons }, 503);
  });
  app.get("/metrics", async (c) => {
    requireScope(await identify(c.req.raw), "read");
    return c.text(await metrics.text(), 200, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" });
  });
  return app;
}
