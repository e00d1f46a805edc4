import type pino from "pino";
import { cancelChildrenRun, cancellingChildren, engineCancellingChildren } from "../a2a/ask/cancel-children.ts";
import { forgetRun } from "../a2a/ask/forget-run.ts";
import type { Peers } from "../a2a/ask/peers.ts";
import { pushRun } from "../a2a/push/push-run.ts";
import { type AgentApp, type AgentAppDeps, agentApp } from "../a2a/server/agent-app.ts";
import { openHomeKeys } from "../a2a/signing/home-keys.ts";
import { agentBodies } from "../agent/agent-bodies.ts";
import { releaseFrom, releasingEngine } from "../agent/release-tools.ts";
import type { AgentConfig } from "../config/agents/agent-config.ts";
import type { Config } from "../config/config.ts";
import { agentNamed } from "../config/named-agent.ts";
import { engineText } from "../config/storage/engine-config.ts";
import { closeAll } from "../core/async/close-all.ts";
import { lazily } from "../core/async/lazy.ts";
import { loadedBodies } from "../core/runs/bodies.ts";
import type { Engine } from "../core/runs/engine.ts";
import type { RunDefinition } from "../core/runs/run.ts";
import { homeMark } from "../http/home-mark.ts";
import { serve } from "../http/serve.ts";
import { openWorkspace } from "../machine/workspace/open-workspace.ts";
import { createDeletions } from "../runs/deletions.ts";
import { openAuthentication, openLocalUsers } from "./access.ts";
import type { AgentSource } from "./agent-source.ts";
import { approvalBy } from "./approval.ts";
import { configuredAgent } from "./configured-agent.ts";
import { browserMissing } from "./machine/find-browser.ts";
import type { Machine } from "./machine/open-machine.ts";
import { openHomeFiles, openWorkspaces } from "./machine/open-workspaces.ts";
import { openModel } from "./open-model.ts";
import { checkSkills, openSkills } from "./open-skills.ts";
import { openTelemetry } from "./open-telemetry.ts";
import { mcpApp } from "./protocols/mcp-app.ts";
import { showMountKey } from "./protocols/mount-key.ts";
import { openGrpc } from "./protocols/open-grpc.ts";
import { checkServers, openMcp } from "./protocols/open-mcp.ts";
import { openWebhooks } from "./protocols/open-webhooks.ts";
import { publicUrlOf, type ServerOptions, sayReady } from "./run-server.ts";
import { bucketNote, openArtifacts } from "./storage/open-artifacts.ts";
import { openEngine } from "./storage/open-engine.ts";
import { openMemory } from "./storage/open-memory.ts";
import { isSaid, limitsOf, openShared } from "./storage/open-shared.ts";
import { startSweeping } from "./storage/sweeping.ts";

/**
 * An agent as a process: its name, and its source, which may depend on what this machine offers.
 */
export type AgentServerSpec = { readonly name: string; readonly source: AgentSource };

/** What an agent's server needs to start. */
type Start = {
  readonly config: Config;
  readonly logger: pino.Logger;
  /** The server closes its sandbox. */
  readonly machine: Machine;
  readonly options: ServerOptions;
};

/** Puts an agent's parts together and serves it: the only place where the rooms meet. */
export async function startAgentServer(spec: AgentServerSpec, start: Start): Promise<void> {
  const { config, logger, machine, options } = start;
  const { name } = spec;
  const agentConfig = agentNamed(config, name);
  const parts = await openParts(spec, start);
  const { engine, artifacts, mcp, asking, agent, openHere: openWorkspace, tasks } = parts;
  // The MCP server is an eighth of the code to load, and most agents never use it.
  const adapter = agentConfig.serveMcp ? await import("../mcp/server/mcp-adapter.ts") : undefined;
  const ownTools =
    agentConfig.serveMcp || options.mcpStdio ? await import("./protocols/open-served-tools.ts") : undefined;
  // Tools that are called without a task, or that may lack something people should know of.
  const opened = ownTools !== undefined || config.desktop.enabled ? await tasks.get() : undefined;
  const report = (bug: unknown) => logger.error({ err: bug }, "unexpected failure");
  const { served, grpc, publicUrl, note } = await listen(() => app, {
    config,
    agentConfig,
    identify: parts.authentication.access.identify,
    report,
    close: () => closeParts(parts, machine),
  });
  const webhooks = openWebhooks(config);
  const cancelling = asking === undefined ? engine : engineCancellingChildren(engine, name);
  const released = releasingEngine(cancelling, async () => (await tasks.made())?.definition, { openWorkspace });
  const { access } = parts.authentication;
  const tools =
    opened &&
    ownTools?.openServedTools({
      ...opened.deps,
      openWorkspace,
      ...opened,
      ...access,
      engine: released,
      publicUrl,
      report,
    });
  const app = agentApp({
    definition: agent,
    mcp: mcpApp({
      agent: name,
      servers: agentConfig.mcp,
      host: mcp,
      mountKey: parts.shared.mountKey,
      identify: access.identify,
      report,
      log: logger,
      adapter: tools && adapter?.mcpAdapter({ ...tools, identify: access.identify }),
    }),
    metrics: { families: parts.metrics, served: tools?.tools?.used },
    facts: { publicUrl, grpc: grpc?.interfaceAt(publicUrl), ...cardFacts(parts, machine) },
    ...servedAs(config, parts),
    engine: released,
    artifacts,
    deletions: deletionsOf(released, parts, start),
    webhooks,
    ...access,
    report,
    hostname: config.server.host,
  });
  const task = parts.workspaces.storing(loadedBodies(name, agentBodies, async () => (await tasks.get()).run));
  engine.work(asking === undefined ? [task] : workOf(task, asking.peers));
  engine.work([pushRun({ kind: name, engine, webhooks, keys: parts.keys, publicUrl, log: logger })], {
    concurrency: 1_000,
    dedicatedPool: true,
  });
  if (isSaid(note)) logger.warn(note);
  logStart(parts, start, served.url.href);
  if (tools && options.mcpStdio) {
    (await import("../mcp/server/serve-over-stdio.ts")).serveOverStdio(tools, () => void served.stop());
  } else sayReady(served.url);
}

function deletionsOf(engine: Engine, { artifacts }: Parts, { config, logger }: Start) {
  return createDeletions({
    engine,
    files: openHomeFiles(config, { artifacts, engine }),
    audit: (record) => logger.info(record, "runs were deleted"),
  });
}

function logStart({ shared, model, browserMissing }: Parts, { config, logger, machine }: Start, url: string): void {
  const notes = [shared.note, bucketNote(config), machine.shortage].filter(isSaid);
  for (const said of [...config.notes, ...notes]) logger.warn(said);
  const facts = {
    model: model.name,
    sandbox: machine.sandbox.description,
    engine: engineText(config.engine, config.home),
    browser: browserMissing ?? "started when it is needed",
  };
  logger.info({ url, ...facts }, "listening");
}

function workOf(task: RunDefinition, peers: Peers): RunDefinition[] {
  return [cancellingChildren(task, peers), cancelChildrenRun(task.kind, peers), forgetRun(task.kind, peers)];
}

function servedAs({ server, a2a }: Config, { tasks, openHere }: Parts) {
  // Looking at a page opens nothing: a server that had no task yet has none.
  const livePage: AgentAppDeps["livePage"] = async ({ principal, contextId }, screen) =>
    (await tasks.made())?.live[screen]?.(await openHere(principal, contextId));
  return { ...a2a, cardStyle: server.card, cors: server.cors, livePage };
}

/** Listens for HTTP, and for gRPC where that is configured. The app is there before any request. */
async function listen(
  app: () => AgentApp,
  {
    config: { server },
    agentConfig,
    identify,
    report,
    close,
  }: Pick<AgentAppDeps, "identify" | "report"> & {
    readonly config: Config;
    readonly agentConfig: AgentConfig;
    close(): Promise<void>;
  },
) {
  const { host: hostname } = server;
  const { guard, note } = await openLocalUsers(server);
  const handlerOf = () => app().handler;
  const grpcPort = server.grpcPort ?? agentConfig.grpcPort;
  const grpc = await openGrpc(grpcPort, { hostname, tls: server.tls, guard, identify, report, handlerOf });
  const port = server.port ?? agentConfig.port;
  const served = serve(
    { fetch: (request) => app().fetch(request) },
    { port, hostname, tls: server.tls, guard, drain: grpc?.stop, close },
  );
  return { served, grpc, publicUrl: publicUrlOf(served.url, server.publicUrl, agentConfig), note };
}

type Parts = Awaited<ReturnType<typeof openParts>>;

/** What the server opens before it listens. */
async function openParts({ name, source }: AgentServerSpec, start: Start) {
  const { config, logger, machine } = start;
  const { home } = config;
  const { sandbox } = machine;
  const agentConfig = agentNamed(config, name);
  const shared = await openShared(config, logger);
  const { model, close: closeModel } = await openModel(
    agentConfig.model,
    { logger, ...limitsOf(shared) },
    agentConfig.roles,
  );
  const artifacts = openArtifacts(config);
  const stored = await openEngine(config, { log: logger, port: config.server.port ?? agentConfig.port });
  const { engine, metrics } = await openTelemetry(stored, config, { name, operation: "invoke_agent", log: logger });
  const mcp = await openMcp(config, { sandbox, logger, shared, env: process.env });
  const authentication = await openAuthentication(config, shared, logger);
  const { tools: chosen, delegates, skills } = agentConfig;
  const checking = [checkServers(name, agentConfig.mcp, mcp), checkSkills(name, skills, config, shared)] as const;
  const opening = [...checking, showMountKey(home, shared.mountKey)] as const;
  const [keys] = await Promise.all([openHomeKeys(shared.signing), ...opening]);
  // An agent that asks no others loads nothing for it.
  const peering = delegates.length > 0 ? await import("./protocols/open-peers.ts") : undefined;
  const admit = peering && (await peering.admission(config, keys));
  const asking = peering?.openPeers(delegates, config, { engine, artifacts, log: logger, ...(admit && { admit }) });
  const missing = await browserMissing(config);
  const { agent, without } = await configuredAgent({ name, source }, start, missing);
  const memory = openMemory(config, shared);
  const mounted = memory.over(openSkills(mcp.mount(agentConfig.mcp), skills, config, shared));
  const open = (principal: string, contextId: string) =>
    openWorkspace({ home, agent: name, principal, contextId, user: sandbox.user });
  const workspaces = openWorkspaces(config, {
    ...{ name, engine, open, log: logger, user: sandbox.user },
    async release(workspace) {
      // Called before there are tools, it has none to release.
      const made = await tasks.made();
      if (made !== undefined) await releaseFrom(made.definition, workspace);
    },
  });
  const needed = {
    ...{ config, machine, agent, chosen, without, mounted, model, engine, artifacts },
    delegate: asking === undefined ? [] : [asking.tool],
    profiles: shared.profiles,
    openWorkspace: workspaces.open,
    ...(memory.recall && { recall: memory.recall }),
    approval: approvalBy(agentConfig.approve, agent, mounted),
    risky: agentConfig.risky,
  };
  const tasks = lazily(async () => {
    const opened = await (await import("./open-tasks.ts")).openTasks(needed);
    for (const said of opened.notes) logger.warn(said);
    return opened;
  });
  const stopSweeping = startSweeping(config, { engine, log: logger });
  return {
    ...needed,
    workspaces,
    memory,
    openHere: open,
    metrics,
    shared,
    closeModel,
    mcp,
    asking,
    keys,
    authentication,
    tasks,
    stopSweeping,
    browserMissing: missing,
  };
}

async function closeParts(
  { asking, engine, mcp, closeModel, authentication, tasks, stopSweeping, shared, memory }: Parts,
  { sandbox }: Machine,
): Promise<void> {
  await closeAll(
    asking?.close,
    stopSweeping,
    () => engine.close({ graceMs: 5_000 }),
    mcp.close,
    // A failure to open them was the failure of the task that needed them.
    [async () => (await tasks.made()?.catch(() => undefined))?.close(), closeModel],
    () => sandbox.close(),
    authentication.close,
    memory.close,
    shared.close,
  );
}

/** What the card says beyond the definition. */
function cardFacts({ config, model, mcp, keys, authentication }: Parts, { sandbox }: Machine) {
  return {
    model: { name: model.name, provider: model.provider },
    sandbox: sandbox.tier,
    ...(sandbox.profile && { sandboxProfile: sandbox.profile }),
    mcp: () => mcp.health(),
    home: homeMark(config.home),
    keys,
    ...authentication.facts,
  };
}
