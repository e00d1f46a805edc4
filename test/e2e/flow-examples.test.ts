import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { flows } from "@manyhands/flows/flows";
import { freePort } from "manyhands/internal/http/free-port";

const main = resolve(import.meta.dir, "../../gateway/src/main.ts");
const { OPENAI_API_KEY: _, OPENAI_BASE_URL: __, MANYHANDS_MODEL: ___, ...rest } = process.env;
let folder: string;
let env: Record<string, string | undefined>;
let system: Bun.Subprocess<"ignore", "ignore", "pipe">;
let said = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "manyhands-examples-"));
  const names = ["MANUS_PORT", "BROWSER_PORT", "SWE_PORT", "DATA_ANALYSIS_PORT", "GATEWAY_PORT"];
  const ports = Object.fromEntries(names.map((name) => [name, `${freePort()}`]));
  env = { ...rest, ...ports, MANYHANDS_HOME: join(folder, "home"), NO_COLOR: "1" };
  system = Bun.spawn([process.execPath, main, "start"], {
    cwd: folder,
    env,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const isUp = Promise.withResolvers<void>();
  void (async () => {
    for await (const chunk of system.stderr) {
      said += new TextDecoder().decode(chunk);
      if (/^Up\./m.test(said)) isUp.resolve();
    }
    isUp.reject(new Error(said));
  })();
  await isUp.promise;
});

afterAll(async () => {
  system.kill("SIGTERM");
  await system.exited;
  await rm(folder, { recursive: true });
});

test("there are flows, each with an example", () => {
  expect(flows.length).toBeGreaterThanOrEqual(2);
});

test.each(flows.map(({ name }) => name))("the rehearsal model carries out the example of the flow %s", async (name) => {
  expectCompleted(await run("flow", name, "--example"));
});

test.each([["run"], ["flow planning"]])(
  "the rehearsal model answers the question that the guides ask: %s",
  async (words) => {
    const ended = await run(...words.split(" "), "How many primes are below 1000?");
    expectCompleted(ended);
    expect(ended.out).toContain("There are 168 primes below 1000.");
  },
);

type Ended = { readonly out: string; readonly exitCode: number };

async function run(...args: readonly string[]): Promise<Ended> {
  const child = Bun.spawn([process.execPath, main, ...args], {
    cwd: folder,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { out, exitCode: await child.exited };
}

function expectCompleted({ out, exitCode }: Ended): void {
  expect(out).toContain("✓ completed");
  expect(out).not.toContain("✗");
  expect(out).not.toContain("I cannot do this task");
  expect(exitCode).toBe(0);
}

test("a flow that is composed and saved over the API works at once, with its agents and options", async () => {
  const loop = flows.find(({ name }) => name === "loop");
  const { text, agents = [], options = {} } = loop?.example ?? { text: "" };
  const call = async (path: string, body: object) => {
    const response = await fetch(`http://127.0.0.1:${env.GATEWAY_PORT}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Prefer: "wait=60" },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, unknown>;
  };
  const composed = { flow: "loop", options: { ...options, agent: agents[0] } };
  expect(await call("/settings/flows/slogan/check", composed)).toEqual({ unknownAgents: [] });
  await call("/settings/flows/slogan", composed);
  const run = await call("/flows/slogan", { input: text });
  expect(run).toMatchObject({ name: "slogan", status: "completed", agents: ["manus"] });
  expect(await Bun.file(join(folder, "manyhands.toml")).text()).toStartWith('[flows.slogan]\nflow = "loop"\n');
});
