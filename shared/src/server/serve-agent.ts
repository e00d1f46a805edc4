import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pino from "pino";
import { agentApp } from "../a2a/agent-app.ts";
import type { AgentDefinition } from "../agent/agent.ts";
import { agentRun } from "../agent/agent-run.ts";
import { releasingEngine } from "../agent/release-tools.ts";
import type { AgentName } from "../config/agents.ts";
import { type Config, loadConfig } from "../config/config.ts";
import { crashPointText } from "../durable/embedded/crash-point.ts";
import { createEmbeddedEngine } from "../durable/embedded/embedded-engine.ts";
import { errnoOf } from "../errno.ts";
import { AppError } from "../errors.ts";
import { serve } from "../serve.ts";
import { createArtifactStore } from "../workspace/artifact-store.ts";
import { openWorkspace } from "../workspace/open-workspace.ts";
import { approvalBy } from "./approval-by.ts";
import { bearerSecurity, identifyBy } from "./identify.ts";
import { openLog } from "./open-log.ts";
import { checkServers, openMcp } from "./open-mcp.ts";
import { openModel } from "./open-model.ts";
import { openToolbox, type Toolbox } from "./toolbox.ts";

/** An agent as a process: its name in the configuration, and its definition from what this machine offers. */
export type AgentServerSpec = {
  readonly name: AgentName;
  define(toolbox: Toolbox, limits: Config["agents"][AgentName]["limits"]): AgentDefinition;
};

/**
 * Runs an agent's server until a signal ends it: reads the configuration, takes up the tasks a former process left, listens, and prints
 * `ready URL`. A bad configuration ends the process with exit code 2, anything else that keeps it from starting with 1; both say why.
 */
export async function serveAgent(spec: AgentServerSpec): Promise<void> {
  try {
    await start(spec, await loadConfig({ cwd: process.cwd(), file: configFile(), env: process.env }));
  } catch (error) {
    // What the system refuses (a port that is taken, an address that is not ours) has its cause in its own sentence.
    const expected = error instanceof AppError || errnoOf(error) !== undefined;
    process.stderr.write(`${spec.name}: ${expected ? (error as Error).message : Bun.inspect(error)}\n`);
    process.exit(error instanceof AppError && error.code === "config_invalid" ? 2 : 1);
  }
}

function configFile(): string | undefined {
  try {
    return parseArgs({ options: { config: { type: "string" } } }).values.config;
  } catch (error) {
    throw new AppError("config_invalid", `${(error as Error).message} The one option is --config FILE.`);
  }
}

/** Every file of the server lies below its home, so one that cannot be is told before anything else. */
async function makeHome(home: string): Promise<void> {
  try {
    await mkdir(home, { recursive: true });
  } catch (error) {
    const cause = errnoOf(error) ?? String(error);
    throw new AppError("config_invalid", `MANYHANDS_HOME cannot be ${home}: it cannot be made a folder (${cause}).`);
  }
}

async function start({ name, define }: AgentServerSpec, config: Config): Promise<void> {
  const { home, server } = config;
  await makeHome(home);
  const agentConfig = config.agents[name];
  const stderr = pino.destination({ fd: 2, sync: false });
  const logger = openLog(name, (line) => void stderr.write(line));
  const [toolbox, { model, close: closeModel }] = await Promise.all([
    openToolbox(join(home, "workspaces"), config),
    openModel(agentConfig.model, { logger }),
  ]);
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const engine = createEmbeddedEngine({
    path: join(home, "runs.db"),
    log: logger,
    ...crashPoint(process.env.CRASH_AT),
  });
  const mcp = await openMcp(config, { sandbox: toolbox.sandbox, logger, env: process.env });
  await checkServers(name, agentConfig.mcp, mcp);
  const definition = { ...define(toolbox, agentConfig.limits), moreTools: mcp.mount(agentConfig.mcp) };
  const open = (principal: string, contextId: string) =>
    // Agents share no files, also where they share a disk.
    openWorkspace({ home, principal: `${name}/${principal}`, contextId, user: toolbox.sandbox.user });
  const approval = approvalBy(agentConfig.approve, definition);
  const served = serve(
    { fetch: (request) => app.fetch(request) },
    {
      port: server.port ?? agentConfig.port,
      hostname: server.host,
      async close() {
        try {
          await engine.close({ graceMs: 5_000 });
        } finally {
          await mcp.close();
          await Promise.all([toolbox.close(), closeModel()]);
        }
      },
    },
  );
  const app = agentApp({
    definition,
    facts: {
      publicUrl: server.publicUrl ?? reachable(served.url),
      model: { name: model.name, provider: model.provider },
      sandbox: toolbox.sandbox.tier,
      mcp: () => mcp.health(),
      ...(server.token !== undefined && { security: bearerSecurity }),
    },
    engine: releasingEngine(engine, definition, { openWorkspace: open }),
    artifacts,
    identify: identifyBy(server.token),
    report: (bug) => logger.error({ err: bug }, "unexpected failure"),
    hostname: server.host,
  });
  engine.work([
    agentRun(definition, { model, engine, artifacts, openWorkspace: open, approval, risky: agentConfig.risky }),
  ]);
  for (const note of config.notes) logger.warn(note);
  logger.info({ url: served.url.href, model: model.name, sandbox: toolbox.sandbox.description }, "listening");
  process.stdout.write(`ready ${served.url.href}\n`);
}

/** Where tests of what survives a crash have this process end itself. */
function crashPoint(text: string | undefined) {
  return text === undefined ? {} : { crashAt: crashPointText.parse(text) };
}

/** An address that a listener on all interfaces can be reached at from here. */
function reachable(url: URL): string {
  return url.origin.replace("//0.0.0.0", "//127.0.0.1").replace("//[::]", "//[::1]");
}
