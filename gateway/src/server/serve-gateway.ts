import { join } from "node:path";
import { createPeers, type PeerAddress } from "manyhands/internal/a2a/ask/peers";
import { insideAddress } from "manyhands/internal/a2a/client/server-address";
import type { Config } from "manyhands/internal/config/config";
import type { Identify } from "manyhands/internal/core/caller";
import type { Engine } from "manyhands/internal/core/engine";
import { AppError } from "manyhands/internal/core/errors";
import type { FlowDefinition } from "manyhands/internal/core/flow";
import type { Model } from "manyhands/internal/core/model";
import { version } from "manyhands/internal/core/release";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { flowExtension } from "manyhands/internal/flow/flow-request";
import { serve } from "manyhands/internal/http/serve";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifact-store";
import { createProjectionCache } from "manyhands/internal/runs/projection-cache";
import { openRuns } from "manyhands/internal/runs/runs";
import { bearerSecurity, identifyBy, openLocalUsers } from "manyhands/internal/server/access";
import { type OpenGrpc, openGrpc } from "manyhands/internal/server/open-grpc";
import { openModel } from "manyhands/internal/server/open-model";
import { openWebhooks } from "manyhands/internal/server/open-webhooks";
import { crashPoint, publicUrlOf, reachable, runServer } from "manyhands/internal/server/run-server";
import type pino from "pino";
import { agentFlow } from "../flows/agent-flow.ts";
import { agentsOfRegistry, flowAddress } from "../flows/agents-of-registry.ts";
import { loadFlows } from "../flows/load-flows.ts";
import { runnablesOf } from "../flows/runnables.ts";
import type { Registry } from "../registry/registry.ts";
import { adapterUrl } from "./a2a-adapter.ts";
import { type GatewayApp, gatewayApp } from "./gateway-app.ts";
import { gatewayEngine, workOn } from "./gateway-engine.ts";
import { openGatewayRegistry } from "./open-gateway-registry.ts";
import { openPushCallbacks } from "./push-callback-app.ts";

const connectMs = 30_000;

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
  const flows = await loadFlows(config);
  const report = (bug: unknown) => logger.error({ err: bug }, "unexpected failure");
  const { model, close: closeModel } = await openModel(config.flows.model, { logger });
  const engine = createEmbeddedEngine({
    path: join(home, "runs.db"),
    log: logger,
    ...crashPoint(process.env.CRASH_AT),
  });
  const { guard, note } = await openLocalUsers(server.token);
  const identify = identifyBy(server.token);
  let gateway: Awaited<ReturnType<typeof open>> | undefined;
  const grpc = await openGrpc(server.grpcPort ?? config.gateway.grpcPort, {
    hostname: server.host,
    guard,
    identify,
    report,
    handlerOf(tenant) {
      if (gateway === undefined) throw new AppError("unavailable", "The gateway is starting.");
      return gateway.app.handlerOf(tenant);
    },
  });
  const served = serve(
    {
      fetch: (request) =>
        gateway?.app.fetch(request) ?? new Response(null, { status: 503, headers: { "Retry-After": "1" } }),
    },
    {
      port: server.port ?? config.gateway.port,
      hostname: server.host,
      guard,
      drain: grpc?.stop,
      async close() {
        try {
          await engine.close({ graceMs: 5_000 });
        } finally {
          await Promise.all([gateway?.close(), closeModel()]);
        }
      },
    },
  );
  const publicUrl = publicUrlOf(served.url, server.publicUrl, config.gateway);
  const url = reachable(served.url);
  gateway = await open({ config, flows, engine, model, url, publicUrl, grpc, identify, logger, report });
  for (const said of [...config.notes, ...(note === undefined ? [] : [note])]) logger.warn(said);
  logger.info({ url: served.url.href, model: model.name }, "listening");
  process.stdout.write(`ready ${served.url.href}\n`);
}

type Parts = {
  readonly config: Config;
  readonly flows: readonly FlowDefinition[];
  readonly engine: Engine;
  readonly model: Model;
  /** Its address from here, and from outside. */
  readonly url: string;
  readonly publicUrl: string;
  readonly grpc: OpenGrpc | undefined;
  readonly identify: Identify;
  readonly logger: pino.Logger;
  readonly report: (bug: unknown) => void;
};

/** Assembles the gateway: registry, flows, runs and their adapters. */
async function open({
  config,
  flows,
  engine,
  model,
  url,
  publicUrl,
  grpc,
  identify,
  logger,
  report,
}: Parts): Promise<{ app: GatewayApp; close(): Promise<void> }> {
  const { home, server } = config;
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const inside = insideAddress([...Object.values(config.agents), { url, publicUrl }]);
  const registry = await openGatewayRegistry(config, flows, inside, report);
  const ownHeaders = server.token === undefined ? {} : { authorization: `Bearer ${server.token}` };
  const isOwn = (address: string) => [url, publicUrl].some((base) => address.startsWith(flowAddress(base)));
  const pushCallbacks = await openPushCallbacks(home, publicUrl === url ? server.publicUrl : publicUrl);
  const peers = createPeers({
    engine,
    artifacts,
    pushCallbacks,
    inside,
    headers: (address) => (isOwn(address.url) ? ownHeaders : registry.headers(address.url)),
    // The registry decides which agents may be asked and checks their cards; our own flows don't
    // need it.
    connect: (address, signal) =>
      isOwn(address.url) ? undefined : registry.connect(address, signal ?? AbortSignal.timeout(connectMs)),
    known(name) {
      const flow = flows.find((one) => one.name === name);
      return flow === undefined ? configured(registry, name) : { name, url: adapterUrl(url, name) };
    },
    retrySignal: (address) => (isOwn(address.url) ? undefined : registry.retrySignal(address)),
    bounds: { patienceMs: config.gateway.patienceMs },
  });
  const webhooks = openWebhooks(config);
  const push = { engine, webhooks, log: logger };
  const flowDeps = { model, peers, push, agents: agentsOfRegistry(registry, flows, url) };
  for (const flow of flows) workOn(flow, adapterUrl(publicUrl, flow.name), engine, flowDeps);
  registry.eachAgent((name) => workOn(agentFlow(name, engine), adapterUrl(publicUrl, name), engine, flowDeps));
  const runnables = runnablesOf(flows, registry);
  const guarded = gatewayEngine(engine, {
    isOurs: (kind) => runnables.ofKind(kind)?.kind === kind,
    agentOf(kind, signal) {
      const agent = runnables.ofKind(kind) && registry.get(kind);
      return agent && registry.connect(agent, signal);
    },
  });
  const runs = openRuns({
    engine: guarded,
    artifacts,
    projections: createProjectionCache(engine),
    runnables,
    publicUrl,
  });
  const facts = { name: model.name, provider: model.provider };
  const app = gatewayApp({
    version,
    publicUrl,
    hostname: server.host,
    engine: guarded,
    artifacts,
    registry,
    runnables,
    runs,
    model: facts,
    facts({ name, type }) {
      const flow = flows.find((one) => type === "flow" && one.name === name);
      return {
        grpc: grpc?.interfaceAt(publicUrl, name),
        ...(flow && { model: facts, extensions: [flowExtension(flow)] }),
        ...(server.token !== undefined && { security: bearerSecurity }),
      };
    },
    webhooks,
    cardStyle: server.card,
    pushCallbacks,
    identify,
    report,
  });
  return { app, close: () => registry.close() };
}

/**
 * The address of an agent of the settings; undefined for a registered agent, which stays at the
 * address a run already has for it.
 */
function configured(registry: Registry, name: string): PeerAddress | undefined {
  const agent = registry.get(name);
  return agent?.source === "configured" ? agent : undefined;
}
