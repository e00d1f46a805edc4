import { spyOn } from "bun:test";
import * as children from "../../a2a/ask/cancel-children.ts";
import type { PeersOptions } from "../../a2a/ask/peers.ts";
import * as pushes from "../../a2a/push/push-run.ts";
import * as apps from "../../a2a/server/agent-app.ts";
import * as releases from "../../agent/release-tools.ts";
import type { Recall } from "../../core/memory.ts";
import type { Engine } from "../../core/runs/engine.ts";
import * as serving from "../../http/serve.ts";
import * as workspaces from "../../machine/workspace/open-workspace.ts";
import * as deleting from "../../runs/deletions.ts";
import * as access from "../../server/access.ts";
import * as homes from "../../server/machine/open-workspaces.ts";
import * as models from "../../server/open-model.ts";
import * as skills from "../../server/open-skills.ts";
import * as tasks from "../../server/open-tasks.ts";
import * as grpcs from "../../server/protocols/open-grpc.ts";
import * as mcp from "../../server/protocols/open-mcp.ts";
import * as peers from "../../server/protocols/open-peers.ts";
import * as engines from "../../server/storage/open-engine.ts";
import * as memories from "../../server/storage/open-memory.ts";
import * as shares from "../../server/storage/open-shared.ts";
import * as sweepings from "../../server/storage/sweeping.ts";

/** What the parts of a server were made of. */
type Made = Partial<{
  app: apps.AgentAppDeps;
  push: pushes.PushDeps;
  deletions: Parameters<typeof deleting.createDeletions>[0];
  model: Parameters<typeof models.openModel>;
  asking: Omit<PeersOptions, "fetch">;
  engine: Parameters<typeof engines.openEngine>[1];
  released: Engine;
  shared: shares.Shared;
  parts: tasks.TaskParts;
  workspaces: Parameters<typeof homes.openWorkspaces>[1];
  skills: Parameters<typeof skills.openSkills>;
  mcp: Parameters<typeof mcp.openMcp>[1];
}>;

/** What an agent's server did while it started, works and stops. */
export type Watch = {
  /** What was closed, in order. */
  readonly closed: string[];
  readonly worked: Parameters<Engine["work"]>[];
  /** What parts of it were given. */
  readonly told: unknown[][];
  /** The lines of its log. */
  readonly logged: string[];
  readonly made: Made;
  /** Stops the server as its process does. */
  stop: () => Promise<void>;
};

/** Parts that a watched server gets, to be found again where they belong. */
export const known = {
  recall: (async () => undefined) satisfies Recall,
  /** Nobody reads it: the server listens without it here. */
  tls: { cert: "a certificate", key: "a key", client: {} },
  shareLimits: () => undefined,
  guard: () => undefined,
  /** Whose files a workspace's are: nobody's here. */
  user: { uid: 4_321, gid: 4_321 },
  drained: async () => undefined,
};

/** Watches how each part is opened, until all mocks are restored. */
export function watchParts(watch: Watch): void {
  watchStorage(watch);
  watchModel(watch);
  watchSources(watch);
  watchPorts(watch);
  watchTasks(watch);
  watchRuns(watch);
}

/** Notes when what this opens is closed, which fails then. */
export function noting<Opened extends object>(
  { closed }: Watch,
  name: string,
  opened: Opened,
  method = "close",
): Opened {
  const end = Reflect.get(opened, method) as (...given: unknown[]) => unknown;
  const noted = (...given: unknown[]) => {
    closed.push([name, ...given.map((one) => JSON.stringify(one))].join(" "));
    const ended = end.apply(opened, given);
    const fail = () => Promise.reject(new Error(`${name} failed.`));
    return ended instanceof Promise ? ended.then(fail) : ended;
  };
  return { ...opened, [method]: noted };
}

/** Where runs, memories and what is shared are. */
function watchStorage(watch: Watch): void {
  const { made, closed, worked } = watch;
  const { openEngine } = engines;
  spyOn(engines, "openEngine").mockImplementation(async (...given) => {
    made.engine = given[1];
    const engine = noting(watch, "engine", await openEngine(...given));
    const work: Engine["work"] = (...given) => {
      worked.push(given);
      engine.work(...given);
    };
    return { ...engine, work };
  });
  const { openShared } = shares;
  spyOn(shares, "openShared").mockImplementation(async (...given) => {
    const shared = { ...(await openShared(...given)), shareLimits: known.shareLimits, note: "It is shared." };
    made.shared = noting(watch, "shared", shared as unknown as shares.Shared);
    return made.shared;
  });
  const { openMemory } = memories;
  spyOn(memories, "openMemory").mockImplementation((...given) =>
    noting(watch, "memory", { ...openMemory(...given), recall: known.recall }),
  );
  const { startSweeping } = sweepings;
  spyOn(sweepings, "startSweeping").mockImplementation((...given) => {
    const end = startSweeping(...given);
    return () => {
      closed.push("sweeping");
      end();
    };
  });
}

/** The model, and who may ask it. */
function watchModel(watch: Watch): void {
  const { made } = watch;
  const { openModel } = models;
  spyOn(models, "openModel").mockImplementation(async (...given) => {
    made.model = given;
    const [config, { shareLimits: _, ...own }, roles] = given;
    return noting(watch, "model", await openModel(config, own, roles));
  });
  const { openAuthentication } = access;
  spyOn(access, "openAuthentication").mockImplementation(async (...given) =>
    noting(watch, "authentication", await openAuthentication(...given)),
  );
}

/** What tools and texts come from: MCP servers, skills and other agents. */
function watchSources(watch: Watch): void {
  const { told, made } = watch;
  const { openMcp, checkServers } = mcp;
  spyOn(mcp, "checkServers").mockImplementation((...given) => {
    told.push(["checked", ...given.slice(0, 2)]);
    return checkServers(...given);
  });
  spyOn(mcp, "openMcp").mockImplementation(async (...given) => {
    made.mcp = given[1];
    const opened = await openMcp(...given);
    const mount: typeof opened.mount = (servers) => {
      told.push(["mounted", servers]);
      return opened.mount(servers);
    };
    return noting(watch, "mcp", { ...opened, mount });
  });
  const { openSkills } = skills;
  spyOn(skills, "openSkills").mockImplementation((...given) => {
    made.skills = given;
    return { ...openSkills(...given) };
  });
  const { openPeers } = peers;
  spyOn(peers, "openPeers").mockImplementation((...given) => {
    const opened = openPeers(...given);
    made.asking = given[2];
    return opened && noting(watch, "peers", opened);
  });
}

/** What it listens with. */
function watchPorts(watch: Watch): void {
  const { told, made } = watch;
  spyOn(access, "openLocalUsers").mockResolvedValue({ guard: known.guard, note: "Others use it." });
  spyOn(grpcs, "openGrpc").mockImplementation(async (port, { guard: kept, tls }) => {
    told.push(["grpc", port, kept, tls]);
    return { stop: known.drained, interfaceAt: () => ({ address: "127.0.0.1:19998", tenant: "" }) };
  });
  const { agentApp } = apps;
  spyOn(apps, "agentApp").mockImplementation((deps) => {
    made.app = deps;
    return agentApp(deps);
  });
  const { serve } = serving;
  spyOn(serving, "serve").mockImplementation((...given) => {
    const [app, options] = given;
    told.push(["http", options.guard, options.drain, options.tls]);
    const served = serve(app, { ...options, tls: undefined });
    watch.stop = served.stop;
    return served;
  });
}

/** What its tasks have, and their workspaces. */
function watchTasks(watch: Watch): void {
  const { told, made } = watch;
  const { openTasks } = tasks;
  spyOn(tasks, "openTasks").mockImplementation((parts) => {
    told.push(["approval", parts.approval({ name: "bash" } as never), parts.approval({ name: "ls" } as never)]);
    told.push(["risky", parts.risky]);
    made.parts = parts;
    const live = (screen: string) => (workspace: unknown) => told.push(["live", screen, workspace]) as never;
    const pages = { browser: live("browser"), desktop: live("desktop") };
    return openTasks(parts).then((opened) =>
      noting(watch, "tasks", { ...opened, live: pages, notes: ["No desktop here."] }),
    );
  });
  const { openWorkspaces } = homes;
  spyOn(homes, "openWorkspaces").mockImplementation((...given) => {
    made.workspaces = given[1];
    return openWorkspaces(...given);
  });
  const { openWorkspace } = workspaces;
  spyOn(workspaces, "openWorkspace").mockImplementation((request) => {
    told.push(["workspace", request]);
    return openWorkspace({ ...request, user: undefined });
  });
}

/** What is done with runs beside executing them. */
function watchRuns(watch: Watch): void {
  const { told, made } = watch;
  const { cancellingChildren, engineCancellingChildren } = children;
  spyOn(children, "cancellingChildren").mockImplementation((...given) => {
    told.push(["cancels children", given[0].kind]);
    return cancellingChildren(...given);
  });
  spyOn(children, "engineCancellingChildren").mockImplementation((...given) => {
    told.push(["engine cancels children", given[1]]);
    return engineCancellingChildren(...given);
  });
  const { releasingEngine } = releases;
  spyOn(releases, "releasingEngine").mockImplementation((...given) => {
    told.push(["releases"]);
    made.released = releasingEngine(...given);
    return made.released;
  });
  const { pushRun } = pushes;
  spyOn(pushes, "pushRun").mockImplementation((deps) => {
    made.push = deps;
    return pushRun(deps);
  });
  const { createDeletions } = deleting;
  spyOn(deleting, "createDeletions").mockImplementation((deps) => {
    made.deletions = deps;
    return createDeletions(deps);
  });
}
