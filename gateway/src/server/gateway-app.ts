import { Hono } from "hono";
import { secureHeaders } from "hono/secure-headers";
import type { PushCallbacks } from "manyhands/internal/a2a/ask/push-callbacks";
import { createDeliveries } from "manyhands/internal/a2a/push/deliveries";
import { pushKind } from "manyhands/internal/a2a/push/push-run";
import type { Webhooks } from "manyhands/internal/a2a/push/webhooks";
import { artifactApp } from "manyhands/internal/a2a/server/artifact-route";
import { lazily } from "manyhands/internal/core/async/lazy";
import type { Identify } from "manyhands/internal/core/caller";
import { AppError } from "manyhands/internal/core/errors";
import type { MetricFamily } from "manyhands/internal/core/metric";
import type { Engine } from "manyhands/internal/core/runs/engine";
import type { ArtifactStore } from "manyhands/internal/core/workspace";
import { auditRefusals, protectedResource, type ReportRefusal } from "manyhands/internal/http/challenge";
import { crossOrigin } from "manyhands/internal/http/cross-origin";
import { headRequests } from "manyhands/internal/http/head-requests";
import { KnownPathsRouter } from "manyhands/internal/http/known-paths";
import { isLoopback, loopbackGuard } from "manyhands/internal/http/loopback-guard";
import { createMetrics, routeOf } from "manyhands/internal/http/metrics";
import { otherMethods } from "manyhands/internal/http/other-methods";
import { statusApp } from "manyhands/internal/http/status-routes";
import { takingTurns } from "manyhands/internal/http/turns";
import type { ProfileStore } from "manyhands/internal/machine/browser-profile/profile-store";
import type { ReadWorkspaces } from "manyhands/internal/machine/workspace/read-workspace";
import { createDeletions, type Deletions } from "manyhands/internal/runs/deletions";
import { createFamilies, type Families } from "manyhands/internal/runs/family";
import type { Quotas } from "manyhands/internal/runs/quotas";
import { kindsOf, type Runnables } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import { openAiAdapter } from "../openai/openai-adapter.ts";
import { pagesApp } from "../pages/pages.ts";
import { agentMetrics, noAgentUp } from "../registry/agent-health.ts";
import type { Registry } from "../registry/registry.ts";
import { agentRoutes } from "../rest/agent-routes.ts";
import { type ChangeStreamPace, changeRoutes } from "../rest/change-routes.ts";
import { deliveryRoutes } from "../rest/delivery-routes.ts";
import type { RestEndpoint } from "../rest/endpoint.ts";
import { flowRoutes } from "../rest/flow-routes.ts";
import { type MemoryRoutesDeps, memoryRoutes } from "../rest/memory/memory-routes.ts";
import { methodRefused, problem } from "../rest/problem.ts";
import { profileRoutes } from "../rest/profile-routes.ts";
import { restApp } from "../rest/rest-app.ts";
import { archiveRoute } from "../rest/runs/archive-route.ts";
import { type FamilyRoutesDeps, familyRoutes } from "../rest/runs/family-routes.ts";
import { liveRoutes, type ReachAgent } from "../rest/runs/live-routes.ts";
import { rerunRoutes } from "../rest/runs/rerun-routes.ts";
import { runRoutes } from "../rest/runs/run-routes.ts";
import { workspaceRoutes } from "../rest/runs/workspace-routes.ts";
import { type OperatorSettings, settingsRoutes } from "../rest/settings/settings-routes.ts";
import { usageRoutes } from "../rest/usage-routes.ts";
import { shareRoutes } from "../shares/share-routes.ts";
import type { ShareStore } from "../shares/share-store.ts";
import { linkReader, sharedRoutes } from "../shares/shared-routes.ts";
import { notifyRoutes } from "../starts/notify/notify-routes.ts";
import { notifyKind } from "../starts/notify/notify-run.ts";
import type { Starts } from "../starts/open-starts.ts";
import { scheduleRoutes } from "../starts/schedules/schedule-routes.ts";
import { triggerApp } from "../starts/triggers/trigger-app.ts";
import { triggerRoutes } from "../starts/triggers/trigger-routes.ts";
import { type A2aAdapter, type A2aAdapterDeps, a2aAdapter } from "./a2a-adapter.ts";
import { publicLocation } from "./public-location.ts";
import { pushCallbackApp } from "./push-callback-app.ts";
import { type SignIn, signInApp } from "./sign-in-app.ts";

/** What the gateway's server is made of. */
export type GatewayAppDeps = {
  readonly version: string;
  readonly publicUrl: string;
  readonly hostname: string;
  readonly heartbeatMs?: number;
  /** How often the stream of changes speaks; by default seldom. */
  readonly changePace?: ChangeStreamPace;
  readonly engine: Engine;
  readonly artifacts: ArtifactStore;
  readonly registry: Registry;
  readonly runnables: Runnables;
  readonly runs: Runs;
  /** How they are deleted; from the engine's store alone, if omitted. */
  readonly deletions?: Deletions;
  /** The workspaces of the home, to be looked at; none if omitted. */
  readonly workspaces?: ReadWorkspaces;
  /** Follows runs at agents with other homes; not at all, if omitted. */
  readonly elsewhere?: NonNullable<FamilyRoutesDeps["elsewhere"]>;
  /** Reaches the agents whose pages are shown; none are, if omitted. */
  readonly reachAgent?: ReachAgent;
  /** The browser profiles of principals. */
  readonly profiles: ProfileStore;
  /** The links to runs. */
  readonly shares: ShareStore;
  /** What principals may use: the same as the runs are held to. */
  readonly quotas: Quotas;
  /** The model of the flows' own calls. */
  readonly model: { readonly name: string; readonly provider: string };
  /** The `homeMark` of its home; unknown if left out. */
  readonly home?: string | undefined;
  readonly facts: A2aAdapterDeps["facts"];
  readonly webhooks?: Webhooks;
  readonly cardStyle?: A2aAdapterDeps["cardStyle"];
  readonly a2a?: A2aAdapterDeps["a2a"];
  /** The origins of other sites whose pages may call. */
  readonly cors?: readonly string[];
  /** Receives push callbacks from agents elsewhere; none when left out. */
  readonly pushCallbacks?: PushCallbacks | undefined;
  /** Lets the operator see and change the settings; not at all if left out. */
  readonly settings?: OperatorSettings | undefined;
  /** What starts by itself, and who is told of runs; nothing and nobody if left out. */
  readonly starts?: Starts | undefined;
  /** What is remembered for callers; nothing if left out. */
  readonly memory?: MemoryRoutesDeps | undefined;
  /** Lets people sign in to the console; they send a token if left out. */
  readonly signIn?: SignIn | undefined;
  readonly identify: Identify;
  /** The issuer of accepted JWTs, named in challenges. */
  readonly issuer?: string | undefined;
  /** Receives refused requests, for the log. */
  readonly refused?: ReportRefusal;
  readonly report: (bug: unknown) => void;
  /** What else its metrics say. */
  readonly metrics?: () => readonly MetricFamily[];
};

/** The gateway's HTTP server, and its A2A for bindings beside it. */
export type GatewayApp = Pick<A2aAdapter, "handlerOf"> &
  Pick<Hono, "routes"> & {
    fetch(request: Request): Response | Promise<Response>;
  };

/**
 * The gateway as a server: every adapter over the same runs. Its only state is the registry's.
 */
export function gatewayApp(options: GatewayAppDeps): GatewayApp {
  const { publicUrl, hostname, engine, artifacts, identify, version, model, home } = options;
  // An agent's own server counts the runs of its own kind.
  const kinds = () => {
    const runs = options.runnables.all().map(({ kind }) => kind);
    return { runs, deliveries: deliveryKinds(runs) };
  };
  const counts = () => [...agentMetrics(options.registry), ...(options.metrics?.() ?? [])];
  const metrics = createMetrics("gateway", engine, kinds, { families: counts });
  const report = (bug: unknown) => {
    metrics.failed();
    options.report(bug);
  };
  const deletions = options.deletions ?? createDeletions({ engine });
  const families = createFamilies(engine);
  const deps = { ...options, deletions, families, report, heartbeatMs: options.heartbeatMs ?? 8_000 };
  const deliveries = createDeliveries(engine, () => deliveryKinds(options.runnables.all().flatMap(kindsOf)));
  const own = [...routesOf(deps), ...deliveryRoutes(deliveries)];
  const shared = sharedRoutes(own, deps);
  const endpoints = [...own, ...shared];
  const app = new Hono({ strict: false, router: new KnownPathsRouter() });
  app.onError((error) => problem(error, report));
  app.notFound((c) => {
    const allowed = otherMethods(c, app);
    if (allowed.length > 0) return methodRefused(allowed);
    return problem(new AppError("not_found", "There is nothing at this address. See /docs."), report);
  });
  app.use(async (c, next) => {
    await next();
    metrics.answered(routeOf(c), c.res.status);
  });
  app.use(headRequests);
  app.use(publicLocation(publicUrl));
  if (options.refused) app.use(auditRefusals(options.refused));
  if (options.issuer !== undefined) app.route("/", protectedResource(publicUrl, options.issuer));
  app.use(secureHeaders({ crossOriginResourcePolicy: "same-site", strictTransportSecurity: false }));
  if (isLoopback(hostname)) app.use(loopbackGuard(publicUrl, options.cors));
  app.use(crossOrigin(options.cors ?? []));
  const unready = () => noAgentUp(options.registry);
  app.route("/", statusApp({ agent: "gateway", version, facts: { model, home }, engine, unready, metrics, identify }));
  app.use(takingTurns());
  app.route("/", artifactApp({ artifacts, engine }, identify));
  app.route("/", pushCallbackApp(options.pushCallbacks));
  if (options.starts) app.route("/", triggerApp(options.starts.triggers));
  const a2a = a2aAdapter(deps);
  app.route("/", a2a.app);
  // The MCP server and the description of the REST API are large, and many gateways are asked for
  // neither.
  const mcp = lazily(async () => (await import("manyhands/internal/mcp/server/mcp-adapter")).mcpAdapter(deps));
  app.all("/mcp", async (c) => (await mcp.get())(c.req.raw));
  app.route("/", openAiAdapter(deps));
  app.get("/openapi.json", async (c) => {
    const { openApiDocument } = await import("../rest/openapi.ts");
    return c.json(openApiDocument(endpoints, { version, publicUrl }));
  });
  if (options.signIn)
    app.route("/", signInApp({ ...options.signIn, ...(options.refused && { refused: options.refused }) }, publicUrl));
  app.route("/", pagesApp(endpoints, { version, publicUrl, signIn: options.signIn !== undefined }));
  // The secret of a link counts for these routes, and for no other.
  app.route("/", restApp(shared, { ...deps, identify: linkReader(options.shares) }));
  app.route("/", restApp(own, deps));
  return { fetch: (request) => app.fetch(request), routes: app.routes, handlerOf: a2a.handlerOf };
}

/** The kinds of the runs that tell receivers of runs of these kinds. */
function deliveryKinds(kinds: readonly string[]): string[] {
  return [...kinds.map(pushKind), notifyKind];
}

/** Every route of the REST API, besides those of deliveries. */
function routesOf(deps: RoutesDeps): RestEndpoint[] {
  return [
    ...flowRoutes(deps),
    ...runRoutes(deps),
    ...changeRoutes(deps),
    ...familyRoutes(deps),
    ...rerunRoutes(deps),
    ...workspaceRoutes(deps),
    ...liveRoutes(deps),
    archiveRoute(deps),
    ...agentRoutes(deps.registry),
    ...usageRoutes(deps),
    ...shareRoutes(deps),
    ...profileRoutes(deps.profiles),
    ...startRoutes(deps),
    ...(deps.memory === undefined ? [] : memoryRoutes(deps.memory)),
    ...(deps.settings === undefined ? [] : settingsRoutes(deps.settings)),
  ];
}

type RoutesDeps = GatewayAppDeps & {
  readonly deletions: Deletions;
  readonly families: Families;
  readonly heartbeatMs: number;
};

/** The routes of what starts by itself. */
function startRoutes({ starts, runs, runnables, publicUrl }: GatewayAppDeps): RestEndpoint[] {
  if (starts === undefined) return [];
  const deps = { ...starts, runs, runnables, publicUrl };
  return [...scheduleRoutes(deps), ...triggerRoutes(deps), ...notifyRoutes(deps)];
}
