import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { type Context, Hono } from "hono";
import { getPathNoStrict } from "hono/utils/url";
import type { Webhooks } from "manyhands/internal/a2a/push/webhooks";
import { type AgentAppDeps, agentApp } from "manyhands/internal/a2a/server/agent-app";
import type { CardFacts, CardStyle } from "manyhands/internal/a2a/server/card";
import type { Identify } from "manyhands/internal/core/caller";
import { AppError } from "manyhands/internal/core/errors";
import type { Engine } from "manyhands/internal/core/runs/engine";
import { percentDecoded } from "manyhands/internal/core/text/percent-decoded";
import type { ArtifactStore } from "manyhands/internal/core/workspace";
import type { Deletions } from "manyhands/internal/runs/deletions";
import type { Quotas } from "manyhands/internal/runs/quotas";
import { findRunnable, type Runnable, type Runnables } from "manyhands/internal/runs/runnable";
import { adapterUrl } from "./adapter-url.ts";

/** What the A2A adapter needs. */
export type A2aAdapterDeps = {
  readonly runnables: Runnables;
  readonly engine: Engine;
  readonly artifacts: ArtifactStore;
  readonly deletions: Deletions;
  readonly publicUrl: string;
  readonly hostname: string;
  /** The way to receivers of notifications; none are taken when left out. */
  readonly webhooks?: Webhooks;
  readonly heartbeatMs: number;
  /** What the card of a runnable tells beside itself. */
  facts(runnable: Runnable): Omit<CardFacts, "publicUrl">;
  readonly cardStyle?: CardStyle | undefined;
  /** What the settings say of A2A. */
  readonly a2a?: Pick<AgentAppDeps, "dedupeMs" | "requiredExtensions"> | undefined;
  readonly cors?: readonly string[] | undefined;
  readonly identify: Identify;
  /** What callers may use. */
  readonly quotas: Quotas;
  readonly report: (bug: unknown) => void;
};

/** Every flow and every agent as an A2A server. */
export type A2aAdapter = {
  readonly app: Hono;
  /**
   * The handler of a tenant's requests in a binding where one address serves all: the tenant is the
   * name of a flow or an agent, the one of the card in `/.well-known/` when empty. Throws
   * `not_found`.
   */
  handlerOf(tenant: string): A2ARequestHandler;
};

type Server = { readonly runnable: Runnable; readonly app: ReturnType<typeof agentApp> };

/**
 * `/a2a/{name}`: every flow and every agent as an A2A server with its own card, over the same runs
 * as the other adapters. `/.well-known/` has the card of the first agent, or else of the first
 * flow, for clients that know only the gateway's address.
 */
export function a2aAdapter(deps: A2aAdapterDeps): A2aAdapter {
  const servers = new Map<string, Server>();
  const served = (runnable: Runnable) => {
    let server = servers.get(runnable.name);
    if (server === undefined || !Bun.deepEquals(server.runnable, runnable)) {
      server = { runnable, app: serverOf(runnable, deps) };
      servers.set(runnable.name, server);
    }
    return server.app;
  };
  // The request itself: another one with its body and a shorter path costs more than the rest of
  // finding its server.
  const answer = (c: Context, runnable: Runnable) => served(runnable).fetch(c.req.raw);
  const app = new Hono();
  app.all("/a2a/*", (c) => {
    const [, , name = ""] = new URL(c.req.url).pathname.split("/");
    if (name === ".well-known") throw slashMissing();
    return answer(c, findRunnable(deps.runnables, percentDecoded(name)));
  });
  app.get("/.well-known/:card{agent(?:-card)?\\.json|jwks\\.json}", (c, next) => {
    const first = firstOf(deps.runnables);
    return first === undefined ? next() : answer(c, first);
  });
  return {
    app,
    handlerOf(tenant) {
      const first = tenant === "" ? firstOf(deps.runnables) : undefined;
      return served(first ?? findRunnable(deps.runnables, tenant)).handler;
    },
  };
}

/** For clients that take the last part of an address for a file and look for the card beside it. */
function slashMissing(): AppError {
  return new AppError(
    "not_found",
    "An agent's card is below its own address. Give the client that address with a slash at its end: /a2a/NAME/.",
  );
}

/** The first agent, or else the first flow. */
function firstOf(runnables: Runnables): Runnable | undefined {
  const all = runnables.all();
  return all.find(({ type }) => type === "agent") ?? all[0];
}

/** The path below `/a2a/{name}`, or that of a request below `/.well-known/`. */
function pathAtAgent(request: Request): string {
  return getPathNoStrict(request).replace(/^\/a2a\/[^/]*/, "") || "/";
}

function serverOf(runnable: Runnable, deps: A2aAdapterDeps): Server["app"] {
  const {
    engine,
    artifacts,
    deletions,
    webhooks,
    hostname,
    heartbeatMs,
    cardStyle,
    a2a,
    cors,
    identify,
    quotas,
    report,
  } = deps;
  const publicUrl = adapterUrl(deps.publicUrl, runnable.name);
  return agentApp({
    definition: runnable,
    kind: runnable.kind,
    deletions,
    facts: { ...deps.facts(runnable), publicUrl },
    cardStyle,
    ...a2a,
    draft: "marked",
    ...(cors && { cors }),
    admit: (message) => runnable.admit(message),
    engine,
    artifacts,
    ...(webhooks && { webhooks }),
    identify,
    quotas,
    report,
    hostname,
    pathOf: pathAtAgent,
    heartbeatMs,
  });
}
