import { afterAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";

const main = resolve(import.meta.dir, "../../gateway/src/main.ts");
const folder = mkdtempSync(join(tmpdir(), "manyhands-lives-"));
afterAll(() => rm(folder, { recursive: true }));

const call = (name: string, args: object) => ({ calls: [{ name, args }] });

/** Manus gives SWE a part of its task; SWE asks the person what to greet with. */
const model = await startScriptedModel(({ messages, tools = [] }) => {
  const said = JSON.stringify(messages);
  const result = messages.findLast(({ role }) => role === "tool");
  const isManus = tools.some((tool) => JSON.stringify(tool).includes('"delegate"'));
  if (isManus && result !== undefined) return { text: `Manus says: ${JSON.stringify(result.content)}` };
  if (isManus) return call("delegate", { agent: "swe", task: said.includes("ask first") ? "ask" : "greet" });
  if (said.includes("greet")) return { text: "Good day from SWE." };
  return result === undefined
    ? call("ask_human", { inquire: "Which word?" })
    : { text: `SWE heard ${result.content}.` };
});
afterAll(() => model.close());

async function manyhands(home: string, ...args: string[]) {
  const ports = ["MANUS_PORT", "BROWSER_PORT", "SWE_PORT", "DATA_ANALYSIS_PORT", "GATEWAY_PORT"];
  const child = Bun.spawn([process.execPath, main, ...args], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NO_COLOR: "1",
      ...Object.fromEntries(ports.map((name) => [name, "0"])),
      MANYHANDS_HOME: join(folder, home),
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: "none",
      MANYHANDS_MODEL: "scripted",
      SANDBOX: "off",
      // The address of another server of this shell; the servers started here do not use it.
      PUBLIC_URL: "http://127.0.0.1:1",
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, out, said };
}

test("an agent run alone can delegate to its agents, although nothing was running", async () => {
  const { exitCode, out } = await manyhands("delegates", "run", "say hello");
  expect(out).toContain("Good day from SWE.");
  expect(exitCode).toBe(0);
  const { out: listed } = await manyhands("delegates", "runs", "list", "--json");
  expect(JSON.parse(listed)).toMatchObject([{ of: "manus", state: "completed", title: "say hello" }]);
});

test("a delegated agent's question is answered after a restart in which every server has another port", async () => {
  const commands = [
    ["run", "ask first", "--json"],
    ["flow", "sequential", "--agents", "swe", "ask first", "--json"],
  ];
  for (const command of commands) {
    const asked = await manyhands("moved", ...command);
    expect(asked.exitCode).toBe(3);
    const { taskId } = JSON.parse(asked.out.trimEnd().split("\n").at(-1) ?? "");
    const answered = await manyhands("moved", "runs", "answer", taskId, "hello");
    expect(answered.out).toContain("SWE heard");
    expect(answered.exitCode).toBe(0);
  }
});
