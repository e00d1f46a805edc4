import { afterAll, beforeAll, expect, mock, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import * as children from "../a2a/ask/cancel-children.ts";
import type { PeersOptions } from "../a2a/ask/peers.ts";
import * as pushes from "../a2a/push/push-run.ts";
import * as apps from "../a2a/server/agent-app.ts";
import { defineAgent } from "../agent/define-agent.ts";
import * as releases from "../agent/release-tools.ts";
import { agentNamed } from "../config/agents/named-agent.ts";
import { type Config, loadConfig } from "../config/config.ts";
import type { Recall } from "../core/memory.ts";
import type { Engine, RunRecord } from "../core/runs/engine.ts";
import { homeMark } from "../http/home-mark.ts";
import * as serving from "../http/serve.ts";
import * as workspaces from "../machine/workspace/open-workspace.ts";
import * as deleting from "../runs/deletions.ts";
import * as access from "./access.ts";
import { startAgentServer } from "./agent-server.ts";
import { openMachine } from "./machine/open-machine.ts";
import * as homes from "./machine/open-workspaces.ts";
import * as models from "./open-model.ts";
import * as skills from "./open-skills.ts";
import * as tasks from "./open-tasks.ts";
import * as grpcs from "./protocols/open-grpc.ts";
import * as mcp from "./protocols/open-mcp.ts";
import * as peers from "./protocols/open-peers.ts";
import * as engines from "./storage/open-engine.ts";
import * as memories from "./storage/open-memory.ts";
import * as shares from "./storage/open-shared.ts";
import * as sweepings from "./storage/sweeping.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-agent-server-"));
const agent = defineAgent({
  name: "tester",
  title: "Tester",
  description: "Answers.",
  version: "1.2.3",
  skills: [],
  instructions: "",
  tools: [],
});

/** What was closed, in order. */
const closed: string[] = [];
const worked: Parameters<Engine["work"]>[] = [];
const said: string[] = [];
/** What parts of it were given. */
const told: unknown[][] = [];
/** The lines of its log. */
const logged: string[] = [];
/** What its parts were made of. */
const made: Partial<{
  config: Config;
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
}> = {};
const recall: Recall = async () => undefined;
/** Nobody reads it: the server listens without it here. */
const tls = { cert: "a certificate", key: "a key", client: {} };
const shareLimits = () => undefined;
const guard = () => undefined;
/** Whose files a workspace's are: nobody's here. */
const user = { uid: 4_321, gid: 4_321 };
const drained = async () => undefined;
let url = "";
let risky: unknown;
let stop: () => Promise<void>;

/** Notes when what this opens is closed. */
function noting<Opened extends object>(name: string, opened: Opened, method = "close"): Opened {
  const end = Reflect.get(opened, method) as (...given: unknown[]) => unknown;
  const noted = (...given: unknown[]) => {
    closed.push([name, ...given.map((one) => JSON.stringify(one))].join(" "));
    return end.apply(opened, given);
  };
  return { ...opened, [method]: noted };
}

beforeAll(async () => {
  const settings = `home = "."
[agents.tester]
port = 19999
grpc_port = 19998
approve = ["bash"]
risky = "allow"
delegates = ["helper"]
[desktop]
enabled = true
[agents.helper]
url = "http://127.0.0.1:9"
[a2a]
dedupe = "1h"
[limits.principal]
runs_at_once = 1
`;
  await Bun.write(join(home, "manyhands.toml"), settings);
  const env = { PORT: "0", MANYHANDS_TOKEN: "long-enough", SANDBOX: "off", MANYHANDS_BROWSER_ENABLED: "0" };
  const loaded = await loadConfig({ cwd: home, env, agent: "tester" });
  const server = { ...loaded.server, tls, cors: ["https://page.example"], card: "strict" as const };
  const config = { ...loaded, server, notes: ["The settings say so."] } as unknown as Config;
  made.config = config;
  risky = agentNamed(config, "tester").risky;
  const machine = await openMachine(join(home, "workspaces"), config.sandbox);
  const { openEngine } = engines;
  spyOn(engines, "openEngine").mockImplementation(async (...given) => {
    made.engine = given[1];
    const engine = noting("engine", await openEngine(...given));
    const work: Engine["work"] = (...given) => {
      worked.push(given);
      engine.work(...given);
    };
    const close: Engine["close"] = async (how) => {
      await engine.close(how);
      throw new Error("The store was busy.");
    };
    return { ...engine, work, close };
  });
  const { openShared } = shares;
  spyOn(shares, "openShared").mockImplementation(async (...given) => {
    const shared = { ...(await openShared(...given)), shareLimits, note: "It is shared." };
    made.shared = noting("shared", shared as unknown as shares.Shared);
    return made.shared;
  });
  const { openMemory } = memories;
  spyOn(memories, "openMemory").mockImplementation((...given) => noting("memory", { ...openMemory(...given), recall }));
  const { openModel } = models;
  spyOn(models, "openModel").mockImplementation(async (...given) => {
    made.model = given;
    const [config, { shareLimits: _, ...own }, roles] = given;
    return noting("model", await openModel(config, own, roles));
  });
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
    return noting("mcp", { ...opened, mount });
  });
  const { openSkills } = skills;
  spyOn(skills, "openSkills").mockImplementation((...given) => {
    made.skills = given;
    return { ...openSkills(...given) };
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
  const { openPeers } = peers;
  spyOn(peers, "openPeers").mockImplementation((...given) => {
    const opened = openPeers(...given);
    made.asking = given[2];
    return opened && noting("peers", opened);
  });
  const { openAuthentication } = access;
  spyOn(access, "openAuthentication").mockImplementation(async (...given) =>
    noting("authentication", await openAuthentication(...given)),
  );
  const { startSweeping } = sweepings;
  spyOn(sweepings, "startSweeping").mockImplementation((...given) => {
    const end = startSweeping(...given);
    return () => {
      closed.push("sweeping");
      end();
    };
  });
  spyOn(access, "openLocalUsers").mockResolvedValue({ guard, note: "Others use it." });
  spyOn(grpcs, "openGrpc").mockImplementation(async (port, { guard: kept, tls }) => {
    told.push(["grpc", port, kept, tls]);
    return { stop: drained, interfaceAt: () => ({ address: "127.0.0.1:19998", tenant: "" }) };
  });
  const { cancellingChildren, engineCancellingChildren } = children;
  spyOn(children, "cancellingChildren").mockImplementation((...given) => {
    told.push(["cancels children", given[0].kind]);
    return cancellingChildren(...given);
  });
  spyOn(children, "engineCancellingChildren").mockImplementation((...given) => {
    told.push(["engine cancels children", given[1]]);
    return engineCancellingChildren(...given);
  });
  const { openTasks } = tasks;
  spyOn(tasks, "openTasks").mockImplementation((parts) => {
    told.push(["approval", parts.approval({ name: "bash" } as never), parts.approval({ name: "ls" } as never)]);
    told.push(["risky", parts.risky]);
    made.parts = parts;
    const live = (screen: string) => (workspace: unknown) => told.push(["live", screen, workspace]) as never;
    const pages = { browser: live("browser"), desktop: live("desktop") };
    return openTasks(parts).then((opened) => noting("tasks", { ...opened, live: pages, notes: ["No desktop here."] }));
  });
  const { releasingEngine } = releases;
  spyOn(releases, "releasingEngine").mockImplementation((...given) => {
    told.push(["releases"]);
    made.released = releasingEngine(...given);
    return made.released;
  });
  const { agentApp } = apps;
  spyOn(apps, "agentApp").mockImplementation((deps) => {
    made.app = deps;
    return agentApp(deps);
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
  const { serve } = serving;
  spyOn(serving, "serve").mockImplementation((...given) => {
    const [app, options] = given;
    told.push(["http", options.guard, options.drain, options.tls]);
    const served = serve(app, { ...options, tls: undefined });
    stop = served.stop;
    return served;
  });
  const output = spyOn(process.stdout, "write").mockImplementation((text) => {
    said.push(String(text));
    return true;
  });
  try {
    const options = { name: "tester", mcpStdio: false };
    const logger = pino({}, { write: (line: string) => void logged.push(line) });
    const sandbox = noting("sandbox", { ...machine.sandbox, user });
    const start = { config, logger, machine: { ...machine, sandbox }, options };
    await startAgentServer({ name: "tester", source: agent }, start);
  } finally {
    output.mockRestore();
  }
  url = /^ready (http:\S+)$/m.exec(said.join(""))?.[1] ?? "";
});
afterAll(async () => {
  mock.restore();
  await rm(home, { recursive: true, force: true });
});

const ask = (path: string, init: RequestInit = {}) =>
  fetch(new URL(path, url), {
    ...init,
    headers: { Authorization: "Bearer long-enough", "A2A-Version": "1.0", "Content-Type": "application/json" },
  });

test("an agent's server is ready where it listens, and its card says what it is and what it can do", async () => {
  const card = (await (await fetch(new URL("/.well-known/agent-card.json", url))).json()) as Record<string, object>;
  expect(card).toMatchObject({ name: "Tester", version: "1.2.3" });
  expect(card.signatures).not.toEqual([]);
  expect(card.capabilities).toMatchObject({ streaming: true, pushNotifications: true, extendedAgentCard: true });
  expect(Object.keys(card.securitySchemes ?? {})).toEqual(expect.arrayContaining(["bearer", "apiKey"]));
  expect((await ask("/.well-known/jwks.json")).status).toBe(200);
  expect((await fetch(new URL("/tasks", url))).status).toBe(401);
  expect(await Bun.file(join(home, "mcp-mount-key")).exists()).toBe(true);
  expect((await ask("/mcp", { method: "POST", body: "{}" })).status).toBe(404);
});

test("it works on its tasks, on what they asked others for, and on notifications, which have workers of their own", () => {
  const kinds = worked.map(([definitions]) => definitions.map(({ kind }) => kind));
  expect(kinds).toEqual([["tester", expect.any(String), expect.any(String)], ["tester/push"]]);
  expect(worked.map(([, options]) => options)).toEqual([undefined, { concurrency: 1_000, dedicatedPool: true }]);
});

test("a task is done", async () => {
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "Hi" }] };
  const sent = await ask("/message:send", { method: "POST", body: JSON.stringify({ message }) });
  expect(JSON.stringify(await sent.json())).not.toContain("error");
  expect((await ask("/metrics")).status).toBe(200);
});

test("its parts have what the settings say, and both its ports one guard", async () => {
  expect(told).toContainEqual(["grpc", 19_998, guard, tls]);
  expect(told).toContainEqual(["http", guard, drained, tls]);
  expect(told).toContainEqual(["approval", "ask", "allow"]);
  expect(told.find(([what]) => what === "risky")?.[1]).toBe(risky);
  const others = [["cancels children", "tester"], ["engine cancels children", "tester"], ["releases"]];
  for (const one of [...others, ["checked", "tester", []]]) expect(told).toContainEqual(one);
  const card = (await (await fetch(new URL("/.well-known/agent-card.json", url))).json()) as object;
  expect(JSON.stringify(card)).toContain('"url":"127.0.0.1:19998"');
});

test("what answers its requests has what the settings say, and what it shares with others", () => {
  const { config, app, push, deletions, model, asking, engine, released } = made;
  expect(app).toMatchObject({ hostname: config?.server.host, cors: ["https://page.example"], cardStyle: "strict" });
  expect([app?.dedupeMs, app?.quotas?.of("ann")]).toEqual([3_600_000, { runsAtOnce: 1 }]);
  expect([app?.engine === released, deletions?.engine === released]).toEqual([true, true]);
  expect(app?.facts).toMatchObject({ home: homeMark(home), publicUrl: new URL(url).origin });
  expect([app?.facts.mcp?.(), app?.metrics?.families?.().length]).toEqual([expect.any(Object), expect.any(Number)]);
  expect(push).toMatchObject({ kind: "tester", publicUrl: new URL(url).origin });
  expect(push?.keys).toBe(app?.facts.keys);
  expect(push?.webhooks).toBe(app?.webhooks);
  expect(model?.[1]).toMatchObject({ logger: push?.log, shareLimits });
  expect(model?.[2]).toBe(agentNamed(config as Config, "tester").roles);
  expect([asking?.admit, engine?.port]).toEqual([expect.any(Function), 0]);
});

test("its tasks have the settings' tools and skills, and what it shares, in workspaces of the sandbox's user", async () => {
  const { config, app, parts, shared, workspaces, skills, mcp } = made;
  const { mcp: servers, skills: chosen } = agentNamed(config as Config, "tester");
  expect([parts?.recall === recall, parts?.profiles === shared?.profiles]).toEqual([true, true]);
  expect(told).toContainEqual(["mounted", []]);
  expect([servers, skills?.[1] === chosen, skills?.[2] === config, mcp?.env === process.env]).toEqual([
    [],
    true,
    true,
    true,
  ]);
  expect(workspaces).toMatchObject({ name: "tester", user });
  const whose = { home, agent: "tester", principal: "ann", contextId: "c" };
  await app?.livePage?.({ principal: "ann", contextId: "c" } as RunRecord, "desktop");
  expect(told).toContainEqual(["workspace", { ...whose, user }]);
  expect(told.at(-1)).toMatchObject(["live", "desktop", { root: expect.stringContaining(home) }]);
});

test("its log says what there is to be known of its settings, and what was deleted", () => {
  for (const said of ["The settings say so.", "It is shared.", "Others use it.", "No desktop here."])
    expect(logged.filter((line) => line.includes(said))).toHaveLength(1);
  made.deletions?.audit?.({ runs: ["a run"] } as never);
  expect(logged.at(-1)).toContain("a run");
  expect(made.deletions?.files).toBeDefined();
});

test("when it stops, all that it opened is closed, also after a failure, and the store of runs before what runs use", async () => {
  await expect(stop()).rejects.toThrow("The store was busy.");
  expect(closed.slice(0, 3)).toEqual(["peers", "sweeping", 'engine {"graceMs":5000}']);
  expect(closed.slice(3).toSorted()).toEqual([
    "authentication",
    "mcp",
    "memory",
    "model",
    "sandbox",
    "shared",
    "tasks",
  ]);
  expect(closed.at(-1)).toBe("shared");
  // Tools and MCP servers have processes in the sandbox.
  expect(Math.max(closed.indexOf("tasks"), closed.indexOf("mcp"))).toBeLessThan(closed.indexOf("sandbox"));
});
