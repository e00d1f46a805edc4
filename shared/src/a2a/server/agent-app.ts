import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { Hono } from "hono";
import { secureHeaders } from "hono/secure-headers";
import type { AgentProfile } from "../../core/agent.ts";
import type { Identify } from "../../core/caller.ts";
import { AppError } from "../../core/errors.ts";
import type { UserMessage } from "../../core/message.ts";
import type { Engine } from "../../core/runs/engine.ts";
import type { FlowSettings } from "../../core/runs/task.ts";
import type { ArtifactStore } from "../../core/workspace.ts";
import { auditRefusals, protectedResource, type ReportRefusal } from "../../http/challenge.ts";
import { crossOrigin } from "../../http/cross-origin.ts";
import { headRequests } from "../../http/head-requests.ts";
import { KnownPathsRouter } from "../../http/known-paths.ts";
import { isLoopback, loopbackGuard } from "../../http/loopback-guard.ts";
import { createMetrics, type MoreMetrics, routeOf } from "../../http/metrics.ts";
import { otherMethods } from "../../http/other-methods.ts";
import { statusApp } from "../../http/status-routes.ts";
import { takingTurns } from "../../http/turns.ts";
import { createDeletions, type Deletions } from "../../runs/deletions.ts";
import { createProjectionCache } from "../../runs/projection-cache.ts";
import { createQuotas, type Quotas } from "../../runs/quotas.ts";
import { pushKind } from "../push/push-run.ts";
import { createReceivers } from "../push/receivers.ts";
import type { Webhooks } from "../push/webhooks.ts";
import { signedCard } from "../signing/signed-card.ts";
import { AppFailure } from "../wire-error.ts";
import { artifactApp } from "./artifact-route.ts";
import { agentCard, type CardFacts, type CardStyle, cardApp, extendedCard } from "./card.ts";
import type { AnswerDraft } from "./growing-answer.ts";
import { httpJsonApp, httpJsonFailure, httpJsonMethodNotAllowed } from "./http-json.ts";
import { rpcApp } from "./json-rpc.ts";
import { keySetApp } from "./key-set-route.ts";
import { type LiveDeps, liveApp } from "./live-route.ts";
import { createRequestHandler } from "./request-handler.ts";

/** The parts of an agent's server. */
export type AgentAppDeps = {
  readonly definition: AgentProfile;
  /** The kind of its runs in the journal; defaults to the agent's name. */
  readonly kind?: string;
  readonly facts: CardFacts;
  /** Defaults to `merged`. */
  readonly cardStyle?: CardStyle | undefined;
  /** Stores the agent's runs. This process need not execute them. */
  readonly engine: Engine;
  readonly artifacts: ArtifactStore;
  /** How tasks are deleted; from the engine's store alone, if omitted. */
  readonly deletions?: Deletions;
  /** Who makes a request and owns the tasks it starts. */
  readonly identify: Identify;
  /** Throws an AppError for a message that cannot start a task. If omitted, every message can. */
  readonly admit?: (message: UserMessage) => FlowSettings;
  /** What principals may use; no limits if omitted. */
  readonly quotas?: Quotas;
  /** The issuer of accepted JWTs, named in challenges. */
  readonly issuer?: string | undefined;
  /** Receives refused requests, for the log. */
  readonly refused?: ReportRefusal;
  /** Receives unexpected errors, with their cause, for the log. */
  readonly report: (bug: unknown) => void;
  /** The open page of a task, for the person it belongs to; no task has one if omitted. */
  readonly livePage?: LiveDeps["pageOf"];
  /** Handles requests below `/mcp`. */
  readonly mcp?: Hono;
  readonly metrics?: MoreMetrics;
  /**
   * Sends notifications to the receivers, which a `pushRun` notifies. If omitted, no receivers are
   * accepted.
   */
  readonly webhooks?: Webhooks;
  /** What becomes the answer; defaults to `replies`. */
  readonly draft?: AnswerDraft;
  /** See TaskDeps; defaults to a day. */
  readonly dedupeMs?: number;
  /** The URIs of extensions that every call has to activate; the card says so. Defaults to none. */
  readonly requiredExtensions?: readonly string[];
  /** The origins of other sites whose pages may call; defaults to none. */
  readonly cors?: readonly string[];
  /** The address to listen on; on loopback, requests from other sites are refused. */
  readonly hostname?: string;
  /**
   * The path of a request at this agent, if another server passes its requests on unchanged: one
   * that refuses requests from other sites and lets requests take turns before it does. Defaults to
   * the path of its URL.
   */
  readonly pathOf?: (request: Request) => string;
  /** Milliseconds of silence after which a stream sends a comment; defaults to 8 seconds. */
  readonly heartbeatMs?: number;
};

/** An agent's HTTP server, and the handler of its A2A requests for bindings beside it. */
export type AgentApp = Pick<Hono, "routes"> & {
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
  const { kind = definition.name, dedupeMs = 86_400_000, requiredExtensions = [], cors = [] } = deps;
  const metrics = createMetrics(kind, engine, () => ({ runs: [kind], deliveries: [pushKind(kind)] }), deps.metrics);
  const report = (bug: unknown) => {
    metrics.failed();
    deps.report(bug);
  };
  const { publicUrl } = facts;
  const { webhooks } = deps;
  const cardFacts = { ...facts, requiredExtensions, push: webhooks !== undefined };
  const card = agentCard(definition, cardFacts);
  const projections = createProjectionCache(engine);
  const tasks = {
    kind,
    engine,
    artifacts,
    projections,
    publicUrl,
    dedupeMs,
    draft: deps.draft ?? "replies",
    ...(deps.admit && { admit: deps.admit }),
    ...(webhooks && { receivers: createReceivers({ kind, engine, webhooks }) }),
  };
  const handler = createRequestHandler({
    ...tasks,
    card,
    deletions: deps.deletions ?? createDeletions({ engine }),
    quotas: deps.quotas ?? createQuotas(),
    requiredExtensions,
    ...(facts.security && {
      extendedCard: (caller) => signedCard(extendedCard(definition, cardFacts, caller), facts)(),
    }),
    report,
  });

  const { pathOf } = deps;
  const isOutermost = pathOf === undefined;
  const paths = pathOf === undefined ? ({ strict: false } as const) : { getPath: pathOf };
  const app = new Hono({ router: new KnownPathsRouter(), ...paths });
  app.onError((error) => httpJsonFailure(error, report));
  app.notFound((c) => {
    const allowed = otherMethods(c, app);
    if (allowed.length > 0) return httpJsonMethodNotAllowed(allowed);
    return httpJsonFailure(new AppFailure(new AppError("not_found", "There is nothing here")), report);
  });
  app.use(async (c, next) => {
    await next();
    metrics.answered(routeOf(c), c.res.status);
  });
  app.use(headRequests);
  if (deps.refused) app.use(auditRefusals(deps.refused));
  if (deps.issuer !== undefined) app.route("/", protectedResource(publicUrl, deps.issuer));
  app.use(secureHeaders(pageHeaders));
  if (isOutermost && isLoopback(hostname)) app.use(loopbackGuard(publicUrl, cors));
  if (cors.length > 0) app.use(crossOrigin(cors));
  app.route("/", statusApp({ agent: definition.name, version: definition.version, facts, engine, metrics, identify }));
  if (isOutermost) app.use(takingTurns());
  app.route("/", cardApp(signedCard(card, facts), handler, deps.cardStyle ?? "merged"));
  if (facts.keys !== undefined) app.route("/", keySetApp(facts.keys));
  app.route("/", artifactApp({ artifacts, engine }, identify));
  if (deps.mcp !== undefined) app.route("/", deps.mcp);
  if (deps.livePage) app.route("/", liveApp({ kind, engine, identify, heartbeatMs, report, pageOf: deps.livePage }));
  app.route("/", rpcApp({ handler, identify, heartbeatMs, report }));
  app.route("/", httpJsonApp({ handler, identify, heartbeatMs, report }));
  return { fetch: (request) => app.fetch(request), routes: app.routes, handler };
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
