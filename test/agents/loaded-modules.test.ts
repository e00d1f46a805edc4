import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { TaskState } from "@a2a-js/sdk";
import { agentDefaults } from "manyhands/internal/config/agents";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { sendBySdk } from "../e2e/sdk-client.ts";
import { until } from "../servers/gateway-server.ts";
import { startReady } from "../servers/ready-process.ts";

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

test.each(Object.keys(agentDefaults))(
  "%s loads no library before its card, its first task or its first command that it does not need there",
  async (name) => {
    const noted = join(home, `${name}.txt`);
    const server = await startReady(
      [process.execPath, "--preload", preload, join(root, "agents", name, "src/server.ts")],
      {
        cwd: home,
        env: {
          ...{ MANYHANDS_HOME: join(home, name), PORT: "0", LOADED_MODULES: noted },
          ...{ OPENAI_BASE_URL: model.url, MANYHANDS_MODEL: "scripted" },
        },
      },
    );
    /** The modules that it has loaded since it was last asked. */
    const loaded = async () => {
      await rm(noted, { force: true });
      process.kill(server.pid, "SIGUSR2");
      await until(() => Bun.file(noted).exists());
      return (await Bun.file(noted).text()).split("\n");
    };
    await (await fetch(new URL("/.well-known/agent-card.json", server.url))).json();
    const atCard = await loaded();
    expect(packagesOf(atCard)).toEqual(forCard);
    expect(among(atCard, ["server/open-tasks.ts", ...unneeded(name)])).toEqual([]);

    for (const text of ["Are you there?", "Count the files."]) {
      const task = await sendBySdk(server.url, text);
      expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
      const atTask = await loaded();
      expect(packagesOf(atTask)).toEqual([...forCard, ...forTask].toSorted());
      expect(among(atTask, unneeded(name))).toEqual([]);
    }
    await server.stop();
  },
);

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
