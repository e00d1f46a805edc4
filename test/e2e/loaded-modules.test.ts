import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { TaskState } from "@a2a-js/sdk";
import { agentDefaults } from "manyhands/internal/config/agents";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { until } from "../servers/gateway-server.ts";
import { startReady } from "../servers/ready-process.ts";
import { sendBySdk } from "./sdk-client.ts";

const root = resolve(import.meta.dir, "../..");
const preload = join(root, "test/servers/note-loaded.fixture.ts");
const home = await mkdtemp(join(tmpdir(), "loaded-modules-"));

/** Runs a command when it is asked to, and answers. */
const model = await startScriptedModel(({ messages }) => {
  const isAsked = messages.at(-1)?.role === "user" && JSON.stringify(messages.at(-1)).includes("Count the files");
  return isAsked ? { calls: [{ name: "bash", args: { command: "ls | wc -l" } }] } : { text: "There." };
});

afterAll(async () => {
  await model.close();
  await rm(home, { recursive: true, force: true });
});

/** Packages that a card needs: validation, HTTP, signatures, A2A, logs and settings. */
const forCard = [
  ...["@a2a-js/sdk", "@pinojs/redact", "atomic-sleep", "eventsource-parser", "hono", "image-size", "jose"],
  ...["on-exit-leak-free", "openai", "pino", "pino-std-serializers", "quick-format-unescaped", "re2js"],
  ...["safe-stable-stringify", "sonic-boom", "thread-stream", "tokenx", "zod"],
];
/** What asking a model and offering it tools adds. */
const forTask = ["jsonrepair", "robots-parser"];

/** A server that says which modules it has loaded. */
async function started(name: string, entry: string, more: Record<string, string> = {}) {
  const noted = join(home, `${name}.txt`);
  const server = await startReady([process.execPath, "--preload", preload, join(root, entry)], {
    cwd: home,
    env: {
      ...{ MANYHANDS_HOME: join(home, name), LOADED_MODULES: noted, PORT: "0", GATEWAY_PORT: "0" },
      ...{ OPENAI_BASE_URL: model.url, MANYHANDS_MODEL: "scripted", ...more },
    },
  });
  return {
    ...server,
    async loaded(): Promise<string[]> {
      await rm(noted, { force: true });
      process.kill(server.pid, "SIGUSR2");
      await until(() => Bun.file(noted).exists());
      return (await Bun.file(noted).text()).split("\n");
    },
  };
}

test.each(Object.keys(agentDefaults))(
  "%s loads no library before its card, its first task or its first command that it does not need there",
  async (name) => {
    const server = await started(name, `agents/${name}/src/server.ts`);
    await (await fetch(new URL("/.well-known/agent-card.json", server.url))).json();
    const atCard = await server.loaded();
    expect(packagesOf(atCard)).toEqual(forCard);
    expect(among(atCard, ["server/open-tasks.ts", ...unneeded(name)])).toEqual([]);

    for (const text of ["Are you there?", "Count the files."]) {
      const task = await sendBySdk(server.url, text);
      expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
      const atTask = await server.loaded();
      expect(packagesOf(atTask)).toEqual([...forCard, ...forTask].toSorted());
      expect(among(atTask, unneeded(name))).toEqual([]);
    }
    await server.stop();
  },
);

test("the gateway loads neither agents' tools nor what describes its API before its first flow, nor then", async () => {
  const agent = await started("asked", "agents/manus/src/server.ts");
  const gateway = await started("gateway", "gateway/src/server/main.ts", { MANUS_URL: agent.url });
  const forFlows = ["@decimalturn/toml-patch", "croner", "jsonrepair", "smol-toml"];
  const look = async () => {
    const modules = await gateway.loaded();
    expect(packagesOf(modules)).toEqual([...forCard, ...forFlows].toSorted());
    const unneeded = ["pages/docs-page.ts", "rest/openapi.ts", "server/toolbox.ts", "agent/agent-run.ts"];
    const ofOthers = ["confinement/create-sandbox.ts", "mcp/server/mcp-adapter.ts", "mcp/client/mounted-server.ts"];
    expect(among(modules, [...unneeded, ...ofOthers])).toEqual([]);
  };
  await (await fetch(new URL("/healthz", gateway.url))).text();
  await look();
  const ran = await fetch(new URL("/flows/parallel", gateway.url), {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "wait=60" },
    body: JSON.stringify({ input: "Are you there?", agents: ["manus"] }),
  });
  expect(await ran.json()).toMatchObject({ status: "completed" });
  await look();
  const page = await (await fetch(new URL("/docs", gateway.url))).text();
  expect(page).toContain("/flows/");
  await Promise.all([gateway.stop(), agent.stop()]);
}, 120_000);

/** Modules of ours for what an agent was not asked to do here, or has no tools for. */
function unneeded(name: string): string[] {
  return [
    ...["egress/proxy.ts", "statistics/analyse.ts", "charts/new-chart.ts", "read/office/read-workbook.ts"],
    ...(name === "swe" ? [] : ["tools/code/code-tools.ts"]),
    ...(name === "data-analysis" ? [] : ["tools/data/data-tools.ts"]),
  ];
}

const among = (paths: readonly string[], ends: readonly string[]) =>
  paths.filter((path) => ends.some((end) => path.endsWith(`/${end}`)));

function packagesOf(paths: readonly string[]): string[] {
  const names = paths.flatMap((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(names)].toSorted();
}
