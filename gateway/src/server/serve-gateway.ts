import { insideAddress } from "manyhands/internal/a2a/client/server-address";
import { openHomeKeys } from "manyhands/internal/a2a/signing/home-keys";
import type { Config } from "manyhands/internal/config/config";
import { engineText } from "manyhands/internal/config/storage/engine-config";
import { AppError } from "manyhands/internal/core/errors";
import type { Model } from "manyhands/internal/core/model";
import { version } from "manyhands/internal/core/release";
import type { Engine } from "manyhands/internal/core/runs/engine";
import { flowExtension } from "manyhands/internal/flow/flow-request";
import { homeMark } from "manyhands/internal/http/home-mark";
import { serve } from "manyhands/internal/http/serve";
import { guardedFiles } from "manyhands/internal/machine/sandbox/guarded-names";
import { createReadWorkspaces } from "manyhands/internal/machine/workspace/read-workspace";
import { createDeletions } from "manyhands/internal/runs/deletions";
import { createProjectionCache } from "manyhands/internal/runs/projection-cache";
import { kindsOf } from "manyhands/internal/runs/runnable";
import { openRuns } from "manyhands/internal/runs/runs";
import { type Authentication, openAuthentication, openLocalUsers } from "manyhands/internal/server/access";
import { openHomeFiles } from "manyhands/internal/server/machine/open-workspaces";
import { openModel } from "manyhands/internal/server/open-model";
import { openTelemetry } from "manyhands/internal/server/open-telemetry";
import { type OpenGrpc, openGrpc } from "manyhands/internal/server/protocols/open-grpc";
import { openWebhooks } from "manyhands/internal/server/protocols/open-webhooks";
import { publicUrlOf, reachable, runServer } from "manyhands/internal/server/run-server";
import { startIndexing } from "manyhands/internal/server/storage/indexing";
import { bucketNote, openArtifacts } from "manyhands/internal/server/storage/open-artifacts";
import { openEngine } from "manyhands/internal/server/storage/open-engine";
import { openProfiles } from "manyhands/internal/server/storage/open-profiles";
import { isSaid, limitsOf, openShared, type Shared } from "manyhands/internal/server/storage/open-shared";
import { startSweeping } from "manyhands/internal/server/storage/sweeping";
import type pino from "pino";
import { agentFlow } from "../flows/agent-flow.ts";
import { agentsOfRegistry } from "../flows/agents-of-registry.ts";
import { type FlowList, flowList } from "../flows/flow-list.ts";
import { loadFlows } from "../flows/load-flows.ts";
import { runnablesOf } from "../flows/runnables.ts";
import type { Registry } from "../registry/registry.ts";
import { openShares } from "../shares/share-store.ts";
import { openStarts, type StartsDeps } from "../starts/open-starts.ts";
import { adapterUrl } from "./a2a-adapter.ts";
import { followElsewhere } from "./follow-elsewhere.ts";
import { type GatewayApp, type GatewayAppDeps, gatewayApp } from "./gateway-app.ts";
import { gatewayEngine, workOn } from "./gateway-engine.ts";
import { openGatewayMemory } from "./open-gateway-memory.ts";
import { openGatewayPeers } from "./open-gateway-peers.ts";
import { openGatewayRegistry } from "./open-gateway-registry.ts";
import { openSettings } from "./open-settings.ts";
import { reachAgent } from "./reach-agent.ts";

/**
 * Runs the gateway until a signal ends it: resumes the runs of a former process, listens, and
 * prints `ready URL`. Exits with code 2 for an invalid configuration and 1 for anything else that
 * prevents its start; both print the reason.
 */
export function serveGateway(): Promise<void> {
  return runServer("gateway", start);
}

async function start(config: Config, logger: pino.Logger): Promise<void> {
  const { home, server } = config;
  const flows = flowList(await loadFlows(config));
  const report = (bug: unknown) => logger.error({ err: bug }, "unexpected failure");
  const shared = await openShared(config, logger);
  const { model, close: closeModel } = await openModel(config.flows.model, { logger, ...limitsOf(shared) });
  const stored = await openEngine(config, { log: logger, port: server.port ?? config.gateway.port });
  const traced = { name: "gateway", operation: "invoke_workflow", log: logger } as const;
  const { engine, metrics } = await openTelemetry(stored, config, traced);
  const { guard, note } = await openLocalUsers(server);
  const authentication = await openAuthentication(config, shared, logger);
  let gateway: OpenGateway | undefined;
  const stops = [startSweeping(config, { engine, log: logger }), startIndexing(engine, logger)];
  const grpc = await openGrpc(server.grpcPort ?? config.gateway.grpcPort, {
    hostname: server.host,
    tls: server.tls,
    guard,
    identify: authentication.access.identify,
    report,
    handlerOf(tenant) {
      if (gateway === undefined) throw new AppError("unavailable", "The gateway is starting.");
      return gateway.app.handlerOf(tenant);
    },
  });
  const served = serve(
    {
      fetch: (request) =>
        gateway?.app.fetch(request) ??
        Response.json(
          { ready: false, reasons: ["The gateway is starting."] },
          { status: 503, headers: { "Retry-After": "1" } },
        ),
    },
    {
      port: server.port ?? config.gateway.port,
      hostname: server.host,
      tls: server.tls,
      guard,
      drain: grpc?.stop,
      async close() {
        for (const stop of [...stops, gateway?.stop]) stop?.();
        try {
          await engine.close({ graceMs: 5_000 });
        } finally {
          await Promise.all([gateway?.close(), closeModel()]);
          await shared.close();
        }
      },
    },
  );
  const publicUrl = publicUrlOf(served.url, server.publicUrl, config.gateway);
  const url = reachable(served.url);
  const parts = { config, flows, engine, model, url, publicUrl, grpc, authentication, shared, metrics, logger, report };
  gateway = await open(parts);
  for (const said of [...config.notes, ...[note, shared.note, bucketNote(config)].filter(isSaid)]) logger.warn(said);
  logger.info({ url: served.url.href, model: model.name, engine: engineText(config.engine, home) }, "listening");
  process.stdout.write(`ready ${served.url.href}\n`);
}

type Parts = {
  readonly config: Config;
  readonly flows: FlowList;
  readonly engine: Engine;
  readonly model: Model;
  /** Its address from here, and from outside. */
  readonly url: string;
  readonly publicUrl: string;
  readonly grpc: OpenGrpc | undefined;
  readonly authentication: Authentication;
  readonly shared: Shared;
  readonly metrics: NonNullable<GatewayAppDeps["metrics"]>;
  readonly logger: pino.Logger;
  readonly report: (bug: unknown) => void;
};

/** `stop` ends what starts by itself; `close` releases the rest, once the engine is closed. */
type OpenGateway = { readonly app: GatewayApp; stop(): void; close(): Promise<void> };

/** Assembles the gateway: registry, flows, runs and their adapters. */
async function open({
  config,
  flows,
  engine,
  model,
  url,
  publicUrl,
  grpc,
  authentication,
  shared,
  metrics,
  logger,
  report,
}: Parts): Promise<OpenGateway> {
  const artifacts = openArtifacts(config);
  const inside = insideAddress([...Object.values(config.agents), { url, publicUrl }]);
  const keys = await openHomeKeys(shared.signing);
  const registry = await openGatewayRegistry(config, flows, { kept: shared.agents, keys, inside, report });
  const reached = { config, flows, engine, artifacts, registry, inside, url, publicUrl };
  const peers = await openGatewayPeers({ ...reached, pushCallbackKey: shared.pushCallbackKey });
  const flowDeps = {
    model,
    peers,
    push: { engine, webhooks: openWebhooks(config), keys, log: logger },
    agents: agentsOfRegistry(registry, flows, url),
  };
  flows.each((flow) => workOn(flow, adapterUrl(publicUrl, flow.name), engine, flowDeps));
  registry.eachAgent((name) => workOn(agentFlow(name, engine), adapterUrl(publicUrl, name), engine, flowDeps));
  const runnables = runnablesOf(flows, registry);
  const guarded = gatewayEngine(engine, {
    isOurs: (kind) => runnables.ofKind(kind)?.kind === kind,
    agentOf({ kind, principal }, signal) {
      const agent = runnables.ofKind(kind) && registry.get(kind);
      return agent && peers.actingFor(principal).client(agent, signal);
    },
  });
  const { quotas } = authentication.access;
  const deletions = createDeletions({
    engine: guarded,
    files: openHomeFiles(config, { artifacts, engine }),
    kinds: () => runnables.all().flatMap(kindsOf),
    audit: (record) => logger.info(record, "runs were deleted"),
  });
  const runs = openRuns({
    engine: guarded,
    ...{ artifacts, runnables, quotas, publicUrl },
    projections: createProjectionCache(engine),
  });
  const starts = startsOf({ engine: guarded, runs, runnables }, { config, publicUrl, logger, shared, authentication });
  const settings = settingsOf({ config, flows, registry, shared, log: logger });
  const memory = openGatewayMemory(config, shared);
  const app = gatewayApp({
    version,
    publicUrl,
    hostname: config.server.host,
    engine: guarded,
    ...{ artifacts, registry, runnables, runs, deletions, memory },
    model: factsOf(model),
    home: homeMark(config.home),
    facts({ name, type, example }) {
      const flow = type === "flow" ? flows.get(name) : undefined;
      return {
        grpc: grpc?.interfaceAt(publicUrl, name),
        ...(flow && { model: factsOf(model), extensions: [flowExtension({ ...flow, ...(example && { example }) })] }),
        keys,
        ...authentication.facts,
      };
    },
    webhooks: flowDeps.push.webhooks,
    ...servedAs(config, peers, { ...shared, registry }),
    pushCallbacks: peers.pushCallbacks,
    settings,
    starts,
    signIn: await openSignIn(config, authentication),
    ...authentication.access,
    metrics,
    report,
  });
  return {
    app,
    stop: starts.start(),
    close: () => settings.mcp.close().then(registry.close).then(memory.close).finally(authentication.close),
  };
}

function factsOf({ name, provider }: Model) {
  return { name, provider };
}

function startsOf(
  deps: Pick<StartsDeps, "engine" | "runs" | "runnables">,
  {
    config,
    publicUrl,
    logger,
    shared,
    authentication,
  }: Pick<Parts, "config" | "publicUrl" | "logger" | "shared" | "authentication">,
) {
  return openStarts(config.triggers, {
    ...deps,
    publicUrl,
    kept: shared.schedules,
    tokens: authentication.store,
    webhooks: (hosts) => openWebhooks(config, hosts),
    log: logger,
  });
}

function settingsOf(deps: Omit<Parameters<typeof openSettings>[0], "cwd" | "env">) {
  return openSettings({ cwd: process.cwd(), env: process.env, ...deps });
}

/** Signing in is code that most gateways never load. */
async function openSignIn({ auth }: Config, { store }: Authentication) {
  if (auth.oidc === undefined || store === undefined) return undefined;
  const { createOidc } = await import("manyhands/internal/auth/oidc");
  return { oidc: createOidc(auth.oidc), store, sessionMs: auth.oidc.sessionMs };
}

function servedAs(
  { home, server, a2a }: Config,
  peers: Awaited<ReturnType<typeof openGatewayPeers>>,
  { shares, profiles, registry }: Pick<Shared, "shares" | "profiles"> & { readonly registry: Registry },
) {
  const inside = {
    workspaces: createReadWorkspaces(home, guardedFiles),
    elsewhere: followElsewhere(peers),
    reachAgent: reachAgent(peers, registry),
    shares: openShares(shares),
    profiles: openProfiles(profiles),
  };
  return { cardStyle: server.card, cors: server.cors, a2a, ...inside };
}
