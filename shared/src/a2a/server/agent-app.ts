import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { Hono } from "hono";
import { routePath } from "hono/route";
import { secureHeaders } from "hono/secure-headers";
import type { AgentProfile } from "../../core/agent.ts";
import type { Identify } from "../../core/caller.ts";
import type { Engine } from "../../core/engine.ts";
import { AppError } from "../../core/errors.ts";
import type { UserMessage } from "../../core/message.ts";
import type { FlowSettings } from "../../core/task.ts";
import type { TaskUsage } from "../../core/usage.ts";
import type { ArtifactStore } from "../../core/workspace.ts";
import { isLoopback, loopbackGuard } from "../../http/loopback-guard.ts";
import { createMetrics } from "../../http/metrics.ts";
import { statusApp } from "../../http/status-routes.ts";
import { createProjectionCache } from "../../runs/projection-cache.ts";
import { pushKind } from "../push/push-run.ts";
import { createReceivers } from "../push/receivers.ts";
import type { Webhooks } from "../push/webhooks.ts";
import { AppFailure } from "../wire-error.ts";
import { artifactApp } from "./artifact-route.ts";
import { type AgentFacts, agentCard, type CardStyle, cardApp } from "./card.ts";
import { rpcApp } from "./json-rpc.ts";
import { createRequestHandler } from "./request-handler.ts";
import { restApp, restFailure } from "./rest.ts";

/** The parts of an agent's server. */
export type AgentAppDeps = {
  readonly definition: AgentProfile;
  /** The kind of its runs in the journal; defaults to the agent's name. */
  readonly kind?: string;
  readonly facts: AgentFacts;
  /** Defaults to `merged`. */
  readonly cardStyle?: CardStyle | undefined;
  /** Stores the agent's runs. This process need not execute them. */
  readonly engine: Engine;
  readonly artifacts: ArtifactStore;
  /** Who makes a request and owns the tasks it starts. */
  readonly identify: Identify;
  /** Throws an AppError for a message that cannot start a task. If omitted, every message can. */
  readonly admit?: (message: UserMessage) => FlowSettings;
  /** Receives unexpected errors, with their cause, for the log. */
  readonly report: (bug: unknown) => void;
  /** Handles requests below `/mcp`. */
  readonly mcp?: Hono;
  /** The model usage of tools called there without a run, for the metrics. */
  readonly served?: () => TaskUsage;
  /**
   * Sends notifications to the receivers, which a `pushRun` notifies. If omitted, no receivers are
   * accepted.
   */
  readonly webhooks?: Webhooks;
  /** The address to listen on; on loopback, requests from other sites are refused. */
  readonly hostname?: string;
  /** Milliseconds of silence after which a stream sends a comment; defaults to 8 seconds. */
  readonly heartbeatMs?: number;
};

/** An agent's HTTP server, and the handler of its A2A requests for bindings beside it. */
export type AgentApp = {
  fetch(request: Request): Response | Promise<Response>;
  readonly handler: A2ARequestHandler;
};

/**
 * An agent as a server: A2A 1.0 over JSON-RPC and HTTP+JSON, A2A 0.3 on the same URL, its cards,
 * its files, health and metrics. The server is stateless, so any number of processes may serve the
 * same engine.
 */
export function agentApp(deps: AgentAppDeps): AgentApp {
  const { definition, facts, engine, artifacts, identify, hostname = "127.0.0.1", heartbeatMs = 8_000 } = deps;
  const { kind = definition.name } = deps;
  const metrics = createMetrics(kind, engine, () => ({ runs: [kind], deliveries: [pushKind(kind)] }), deps.served);
  const report = (bug: unknown) => {
    metrics.failed();
    deps.report(bug);
  };
  const { publicUrl } = facts;
  const { webhooks } = deps;
  const card = agentCard(definition, { ...facts, push: webhooks !== undefined });
  const projections = createProjectionCache(engine);
  const tasks = {
    kind,
    engine,
    artifacts,
    projections,
    publicUrl,
    ...(deps.admit && { admit: deps.admit }),
    ...(webhooks && { receivers: createReceivers({ kind, engine, webhooks }) }),
  };
  const handler = createRequestHandler({ ...tasks, card, report });

  const app = new Hono({ strict: false });
  app.onError((error) => restFailure(error, report));
  app.notFound(() => restFailure(new AppFailure(new AppError("not_found", "There is nothing here")), report));
  app.use(async (c, next) => {
    await next();
    metrics.answered(routePath(c, -1), c.res.status);
  });
  app.use(secureHeaders(pageHeaders));
  if (isLoopback(hostname)) app.use(loopbackGuard(publicUrl));
  app.route("/", statusApp({ agent: definition.name, version: definition.version, facts, engine, metrics }));
  app.route("/", cardApp(card, handler, deps.cardStyle ?? "merged"));
  app.route("/", artifactApp(artifacts, identify));
  if (deps.mcp !== undefined) app.route("/", deps.mcp);
  app.route("/", rpcApp({ handler, identify, heartbeatMs, report }));
  app.route("/", restApp({ handler, identify, heartbeatMs, report }));
  return { fetch: (request) => app.fetch(request), handler };
}

/**
 * Nothing served here is a page: no script runs and no frame shows it. Other ports of the same site
 * may show files. Requiring TLS for a domain is up to the domain's operator.
 */
const pageHeaders = {
  contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"], sandbox: [] },
  crossOriginResourcePolicy: "same-site",
  strictTransportSecurity: false,
};
