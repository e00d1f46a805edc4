import { insideAddress } from "manyhands/internal/a2a/client/server-address";
import { type HomeKeys, openHomeKeys } from "manyhands/internal/a2a/signing/home-keys";
import type { Config } from "manyhands/internal/config/config";
import { closeAll } from "manyhands/internal/core/async/close-all";
import type { Model } from "manyhands/internal/core/model";
import { version } from "manyhands/internal/core/release";
import type { Engine } from "manyhands/internal/core/runs/engine";
import { flowExtension } from "manyhands/internal/flow/flow-extension";
import { homeMark } from "manyhands/internal/http/home-mark";
import { guardedFiles } from "manyhands/internal/machine/sandbox/guarded-names";
import { createReadWorkspaces } from "manyhands/internal/machine/workspace/read-workspace";
import { createDeletions } from "manyhands/internal/runs/deletions";
import { createProjectionCache } from "manyhands/internal/runs/projection-cache";
import { kindsOf } from "manyhands/internal/runs/runnable";
import { openRuns } from "manyhands/internal/runs/runs";
import type { Authentication } from "manyhands/internal/server/access";
import { openHomeFiles } from "manyhands/internal/server/machine/open-workspaces";
import type { OpenGrpc } from "manyhands/internal/server/protocols/open-grpc";
import { openWebhooks } from "manyhands/internal/server/protocols/open-webhooks";
import { openArtifacts } from "manyhands/internal/server/storage/open-artifacts";
import { openProfiles } from "manyhands/internal/server/storage/open-profiles";
import type { Shared } from "manyhands/internal/server/storage/open-shared";
import type pino from "pino";
import { agentFlow } from "../flows/agent-flow.ts";
import { agentsOfRegistry } from "../flows/agents-of-registry.ts";
import type { FlowList } from "../flows/flow-list.ts";
import { runnablesOf } from "../flows/runnables.ts";
import { openShares } from "../shares/share-store.ts";
import { openStarts, type StartsDeps } from "../starts/open-starts.ts";
import { adapterUrl } from "./adapter-url.ts";
import { followElsewhere } from "./follow-elsewhere.ts";
import { type GatewayApp, type GatewayAppDeps, gatewayApp } from "./gateway-app.ts";
import { gatewayEngine, workOn } from "./gateway-engine.ts";
import { openGatewayMemory } from "./open-gateway-memory.ts";
import { openGatewayPeers } from "./open-gateway-peers.ts";
import { openGatewayRegistry } from "./open-gateway-registry.ts";
import { openSettings } from "./open-settings.ts";
import { reachAgent } from "./reach-agent.ts";

/** What the process has opened before it knows its address. */
export type GatewayParts = {
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

/**
 * An assembled gateway: `stop` ends what starts by itself; `close` releases the rest, once the
 * engine is closed.
 */
export type OpenGateway = { readonly app: GatewayApp; stop(): void; close(): Promise<void> };

/** Assembles the gateway: agents and flows, their runs, what starts runs, and the adapters. */
export async function openGateway(parts: GatewayParts): Promise<OpenGateway> {
  const { config, model, publicUrl, authentication, shared, metrics, report } = parts;
  const agents = await openAgents(parts);
  const { artifacts, registry, runnables, webhooks, peers } = agents;
  const engine = guardedEngine(parts.engine, agents);
  const { quotas } = authentication.access;
  const projections = createProjectionCache(parts.engine);
  const runs = openRuns({ engine, artifacts, projections, runnables, quotas, publicUrl });
  const starts = startsOf(parts, { engine, runs, runnables });
  const settings = settingsOf(parts, agents);
  const memory = openGatewayMemory(config, shared);
  const app = gatewayApp({
    ...{ version, publicUrl, engine, artifacts, registry, runnables, runs, settings, starts, memory, webhooks },
    ...{ metrics, report },
    hostname: config.server.host,
    deletions: deletionsOf(parts, agents, engine),
    model: factsOf(model),
    home: homeMark(config.home),
    facts: cardFacts(parts, agents),
    workspaces: createReadWorkspaces(config.home, guardedFiles),
    elsewhere: followElsewhere(peers),
    reachAgent: reachAgent(peers, registry),
    shares: openShares(shared.shares),
    profiles: openProfiles(shared.profiles),
    cardStyle: config.server.card,
    cors: config.server.cors,
    a2a: config.a2a,
    pushCallbacks: peers.pushCallbacks,
    signIn: await openSignIn(config, authentication),
    ...authentication.access,
  });
  return {
    app,
    stop: starts.start(),
    close: () => closeAll(settings.mcp.close, registry.close, memory.close, authentication.close),
  };
}

type OpenAgents = Awaited<ReturnType<typeof openAgents>>;

/** The agents that are known, how they are asked, and the flows over them, whose runs begin. */
async function openAgents({ config, flows, engine, model, url, publicUrl, shared, logger, report }: GatewayParts) {
  const artifacts = openArtifacts(config);
  const inside = insideAddress([...Object.values(config.agents), { url, publicUrl }]);
  const keys = await openHomeKeys(shared.signing);
  const registry = await openGatewayRegistry(config, flows, { kept: shared.agents, keys, inside, report });
  const reached = { config, flows, engine, artifacts, registry, inside, url, publicUrl };
  const peers = await openGatewayPeers({ ...reached, pushCallbackKey: shared.pushCallbackKey });
  const webhooks = openWebhooks(config);
  const flowDeps = {
    model,
    peers,
    push: { engine, webhooks, keys, log: logger },
    agents: agentsOfRegistry(registry, flows, url),
  };
  flows.each((flow) => workOn(flow, adapterUrl(publicUrl, flow.name), engine, flowDeps));
  registry.eachAgent((name) => workOn(agentFlow(name, engine), adapterUrl(publicUrl, name), engine, flowDeps));
  return { artifacts, keys, registry, peers, webhooks, runnables: runnablesOf(flows, registry) };
}

/** The engine as the adapters see it: runs of agents that serve themselves are asked of them. */
function guardedEngine(engine: Engine, { runnables, registry, peers }: OpenAgents): Engine {
  return gatewayEngine(engine, {
    isOurs: (kind) => runnables.ofKind(kind)?.kind === kind,
    agentOf({ kind, principal }, signal) {
      const agent = runnables.ofKind(kind) && registry.get(kind);
      return agent && peers.actingFor(principal).client(agent, signal);
    },
  });
}

function deletionsOf({ config, logger }: GatewayParts, { artifacts, runnables }: OpenAgents, engine: Engine) {
  return createDeletions({
    engine,
    files: openHomeFiles(config, { artifacts, engine }),
    kinds: () => runnables.all().flatMap(kindsOf),
    audit: (record) => logger.info(record, "runs were deleted"),
  });
}

/** What the card of a flow or an agent says beyond its definition. */
function cardFacts(
  { flows, model, grpc, publicUrl, authentication }: GatewayParts,
  { keys }: { readonly keys: HomeKeys },
): GatewayAppDeps["facts"] {
  return ({ name, type, example }) => {
    const flow = type === "flow" ? flows.get(name) : undefined;
    return {
      grpc: grpc?.interfaceAt(publicUrl, name),
      ...(flow && { model: factsOf(model), extensions: [flowExtension({ ...flow, ...(example && { example }) })] }),
      keys,
      ...authentication.facts,
    };
  };
}

function factsOf({ name, provider }: Model) {
  return { name, provider };
}

function startsOf(
  { config, publicUrl, logger, shared, authentication }: GatewayParts,
  deps: Pick<StartsDeps, "engine" | "runs" | "runnables">,
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

function settingsOf({ config, flows, shared, logger }: GatewayParts, { registry }: OpenAgents) {
  return openSettings({ cwd: process.cwd(), env: process.env, config, flows, registry, shared, log: logger });
}

/** Signing in is code that most gateways never load. */
async function openSignIn({ auth }: Config, { store }: Authentication) {
  if (auth.oidc === undefined || store === undefined) return undefined;
  const { createOidc } = await import("manyhands/internal/auth/oidc");
  return { oidc: createOidc(auth.oidc), store, sessionMs: auth.oidc.sessionMs };
}
