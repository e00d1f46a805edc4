import { join } from "node:path";
import type pino from "pino";
import { cancelChildrenRun, cancellingChildren, engineCancellingChildren } from "../a2a/ask/cancel-children.ts";
import { pushRun } from "../a2a/push/push-run.ts";
import { type AgentApp, type AgentAppDeps, agentApp } from "../a2a/server/agent-app.ts";
import { openHomeKeys } from "../a2a/signing/home-keys.ts";
import { agentRun } from "../agent/agent-run.ts";
import { releasingEngine } from "../agent/release-tools.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { agentNamed, type Config } from "../config/config.ts";
import { instructed } from "../config/instructions.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { serve } from "../http/serve.ts";
import { toolFetch } from "../machine/egress/tool-fetch.ts";
import { createArtifactStore } from "../machine/workspace/artifact-store.ts";
import { openWorkspace } from "../machine/workspace/open-workspace.ts";
import { openAuthentication, openLocalUsers } from "./access.ts";
import { type AgentSource, agentOf } from "./agent-source.ts";
import { mcpApp, mountKey } from "./mcp-app.ts";
import { approvalBy, guardedMore, offersOf, openAgent } from "./open-agent.ts";
import { openGrpc } from "./open-grpc.ts";
import { checkServers, openMcp } from "./open-mcp.ts";
import { openModel } from "./open-model.ts";
import { openWebhooks } from "./open-webhooks.ts";
import { crashPoint, publicUrlOf, type ServerOptions } from "./run-server.ts";
import type { Toolbox } from "./toolbox.ts";

/**
 * An agent as a process: its name, and its source, which may depend on what this machine offers.
 */
export type AgentServerSpec = { readonly name: string; readonly source: AgentSource };

/** What an agent's server needs to start. */
type Start = {
  readonly config: Config;
  readonly logger: pino.Logger;
  /** The server closes it. */
  readonly toolbox: Toolbox;
  readonly options: ServerOptions;
};

/** Puts an agent's parts together and serves it: the only place where the rooms meet. */
export async function startAgentServer(spec: AgentServerSpec, start: Start): Promise<void> {
  const { config, logger, toolbox, options } = start;
  const { name } = spec;
  const { home, server } = config;
  const agentConfig = agentNamed(config, name);
  const parts = await openParts(spec, start);
  const { engine, artifacts, mcp, asking, definition, open, model } = parts;
  // The MCP server is an eighth of the code to load, and most agents never use it.
  const adapter = agentConfig.serveMcp ? await import("../mcp/server/mcp-adapter.ts") : undefined;
  const ownTools = agentConfig.serveMcp || options.mcpStdio ? await import("./open-served-tools.ts") : undefined;
  const report = (bug: unknown) => logger.error({ err: bug }, "unexpected failure");
  const { served, grpc, publicUrl, note } = await listen(() => app, {
    config,
    agentConfig,
    identify: parts.authentication.access.identify,
    report,
    close: () => closeParts(parts, toolbox),
  });
  const webhooks = openWebhooks(config);
  const cancelling = asking === undefined ? engine : engineCancellingChildren(engine, name);
  const released = releasingEngine(cancelling, definition, { openWorkspace: open });
  const { access } = parts.authentication;
  const approval = approvalBy(agentConfig.approve, definition);
  const deps = {
    model,
    engine,
    artifacts,
    openWorkspace: open,
    approval,
    risky: agentConfig.risky,
    fetch: toolFetch(toolbox.egress),
  };
  const tools = ownTools?.openServedTools({ definition, ...deps, ...access, engine: released, publicUrl, report });
  const app = agentApp({
    definition,
    mcp: mcpApp({
      agent: name,
      servers: agentConfig.mcp,
      host: mcp,
      home,
      identify: access.identify,
      report,
      log: logger,
      adapter: tools && adapter?.mcpAdapter({ ...tools, identify: access.identify }),
    }),
    ...(tools?.tools && { served: tools.tools.used }),
    facts: { publicUrl, grpc: grpc?.interfaceAt(publicUrl), ...cardFacts(parts, toolbox) },
    ...servedAs(config),
    engine: released,
    artifacts,
    webhooks,
    ...access,
    report,
    hostname: server.host,
  });
  const task = agentRun(definition, deps);
  engine.work(
    asking === undefined ? [task] : [cancellingChildren(task, asking.peers), cancelChildrenRun(name, asking.peers)],
  );
  engine.work([pushRun({ kind: name, engine, webhooks, keys: parts.keys, publicUrl, log: logger })], {
    concurrency: 1_000,
    dedicatedPool: true,
  });
  for (const said of [...config.notes, ...toolbox.notes, ...(note === undefined ? [] : [note])]) logger.warn(said);
  logger.info({ url: served.url.href, model: model.name, ...factsOf(toolbox) }, "listening");
  if (tools && options.mcpStdio) {
    (await import("../mcp/server/serve-over-stdio.ts")).serveOverStdio(tools, () => void served.stop());
  } else process.stdout.write(`ready ${served.url.href}\n`);
}

function servedAs({ server, a2a }: Config) {
  return { ...a2a, cardStyle: server.card, cors: server.cors };
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
async function openParts({ name, source }: AgentServerSpec, { config, logger, toolbox }: Start) {
  const { home } = config;
  const agentConfig = agentNamed(config, name);
  const { model, close: closeModel } = await openModel(agentConfig.model, { logger });
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const engine = createEmbeddedEngine({
    path: join(home, "runs.db"),
    log: logger,
    ...crashPoint(process.env.CRASH_AT),
  });
  const mcp = await openMcp(config, { sandbox: toolbox.sandbox, logger, env: process.env });
  const authentication = await openAuthentication(config, logger);
  const [keys] = await Promise.all([openHomeKeys(home), checkServers(name, agentConfig.mcp, mcp), mountKey(home)]);
  const { tools: chosen, delegates } = agentConfig;
  // An agent that asks no others loads nothing for it.
  const peering = delegates.length > 0 ? await import("./open-peers.ts") : undefined;
  const admit = peering && (await peering.admission(config, keys));
  const asking = peering?.openPeers(delegates, config, { engine, artifacts, ...(admit && { admit }) });
  const machine = { ...toolbox, delegate: asking === undefined ? [] : [asking.tool] };
  const offers = offersOf(machine, chosen, { delegates, pythonLibraries: toolbox.python?.libraries });
  const made = openAgent(agentOf(source, offers), machine, chosen);
  const definition = {
    ...(await instructed(made, agentConfig.instructions)),
    // One module can serve several agents of a system, each by its own name.
    name,
    otherNames: made.otherNames,
    limits: { ...made.limits, ...agentConfig.limits },
    ...(agentConfig.toolChoice && { toolChoice: agentConfig.toolChoice }),
    moreTools: guardedMore(mcp.mount(agentConfig.mcp), (tool) => toolbox.guarded(tool)),
  };
  const open = (principal: string, contextId: string) =>
    // Agents share no files, even on the same disk.
    openWorkspace({ home, principal: `${name}/${principal}`, contextId, user: toolbox.sandbox.user });
  return { model, closeModel, artifacts, engine, mcp, asking, definition, open, keys, authentication };
}

async function closeParts({ asking, engine, mcp, closeModel, authentication }: Parts, toolbox: Toolbox): Promise<void> {
  asking?.close();
  try {
    await engine.close({ graceMs: 5_000 });
  } finally {
    await mcp.close();
    await Promise.all([toolbox.close(), closeModel()]);
    authentication.close();
  }
}

/** What the card says beyond the definition. */
function cardFacts({ model, mcp, keys, authentication }: Parts, { sandbox }: Toolbox) {
  return {
    model: { name: model.name, provider: model.provider },
    sandbox: sandbox.tier,
    mcp: () => mcp.health(),
    keys,
    ...authentication.facts,
  };
}

function factsOf({ sandbox, browsing }: Toolbox) {
  return { sandbox: sandbox.description, browser: browsing.missing ?? "started when it is needed" };
}
