import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { startAgent } from "../servers/manus-server.ts";

const main = resolve(import.meta.dir, "../../gateway/src/main.ts");
const folder = mkdtempSync(join(tmpdir(), "manyhands-command-line-"));
afterAll(() => rm(folder, { recursive: true }));

function environment(home: string): Record<string, string | undefined> {
  const { OPENAI_API_KEY: _, OPENAI_BASE_URL: __, MANYHANDS_MODEL: ___, ...rest } = process.env;
  const ports = ["MANUS_PORT", "BROWSER_PORT", "SWE_PORT", "DATA_ANALYSIS_PORT", "GATEWAY_PORT"];
  const free = Object.fromEntries(ports.map((name) => [name, "0"]));
  return { ...rest, ...free, MANYHANDS_HOME: join(folder, home), NO_COLOR: "1" };
}

async function manyhands(home: string, ...args: string[]) {
  return manyhandsWith({}, home, ...args);
}

async function manyhandsWith(env: Record<string, string>, home: string, ...args: string[]) {
  const child = Bun.spawn([process.execPath, main, ...args], {
    cwd: folder,
    env: { ...environment(home), ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, out, said };
}

test("the demo has all agents work on one task, checks the outcome and leaves the results", async () => {
  const { exitCode, out, said } = await manyhands("demo", "demo");
  expect(said).toContain("rehearsal model (scripted; no model is configured)");
  const browses = !said.includes("Skipped: filling in a form");
  expect(out).toContain("[✓] [data-analysis]");
  expect(out).toContain("[✓] [swe]");
  expect(out.includes("[✓] [browser]")).toBe(browses);
  expect(out).toContain("all 16 figures of the report are right");
  expect(out).toContain("the report shows the chart: revenue_by_month.png");
  expect(out).toContain("all tests pass with it");
  expect(out.includes("the report names MH-4101")).toBe(browses);
  expect(out).not.toContain("✗");
  const report = await Bun.file(join(folder, "manyhands-demo/report.md")).text();
  expect(report).toContain("# Orders summary");
  expect(report).toContain("+        if weight <= heaviest:");
  expect(await Bun.file(join(folder, "manyhands-demo/receipt.png")).exists()).toBe(browses);
  expect(exitCode).toBe(0);
  const runs = await manyhands("demo", "runs", "list", "--json");
  const [run] = JSON.parse(runs.out);
  expect(run).toMatchObject({ state: "completed" });
  const shown = await manyhands("demo", "runs", "show", run.id);
  expect(shown.out).toContain("+ report.md");
  expect(await Bun.file(join(folder, "manyhands-out", run.id, "report.md")).exists()).toBe(true);
});

test("a task the rehearsal model does not know fails with the ways to configure a real one", async () => {
  const { exitCode, out } = await manyhands("other", "run", "write a poem", "--json");
  expect(exitCode).toBe(1);
  const result = JSON.parse(out.trimEnd().split("\n").at(-1) ?? "");
  expect(result).toMatchObject({ kind: "result", state: "failed" });
  expect(result.text).toContain("OPENAI_API_KEY");
});

test("an unknown run is reported without starting a server", async () => {
  for (const command of [
    ["answer", "run-1", "Yes"],
    ["watch", "run-1"],
    ["cancel", "run-1"],
  ]) {
    for (const whose of [[], ["--agent", "swe"], ["--flow", "planning"]]) {
      const { exitCode, said } = await manyhands("nowhere", "runs", ...command, ...whose);
      expect(said).toContain("There is no run run-1");
      expect(exitCode).not.toBe(0);
    }
  }
  expect(existsSync(join(folder, "nowhere", "logs"))).toBe(false);
});

test("a system started for a flow uses its agents where the settings say, and starts those that are not running", async () => {
  const model = await startScriptedModel(() => ({ text: "By the one that was there." }));
  const given = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none", MANYHANDS_MODEL: "scripted", SANDBOX: "off" };
  const elsewhere = join(folder, "elsewhere");
  await mkdir(elsewhere);
  const manus = startAgent("manus", { ...given, MANYHANDS_HOME: elsewhere, PORT: `${freePort()}` });
  try {
    await manus.ready;
    const env = { ...given, MANUS_URL: manus.url };
    const { exitCode, out } = await manyhandsWith(env, "here", "flow", "sequential", "--agents", "manus", "Who is it?");
    expect(out).toContain("By the one that was there.");
    expect(exitCode).toBe(0);
    const logs = (await readdir(join(folder, "here", "logs"))).toSorted();
    expect(logs).toEqual(["browser.log", "data-analysis.log", "gateway.log", "swe.log"]);
  } finally {
    await manus.stop();
    await model.close();
  }
});

test("start brings the agents up, restarts one that is killed, and drains on SIGTERM with exit code 0", async () => {
  const child = Bun.spawn([process.execPath, main, "start"], {
    cwd: folder,
    env: environment("start"),
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  let said = "";
  const reading = (async () => {
    for await (const chunk of child.stderr) said += new TextDecoder().decode(chunk);
  })();
  const until = async (pattern: RegExp) => {
    for (const deadline = Date.now() + 60_000; !pattern.test(said); await Bun.sleep(20))
      if (Date.now() > deadline) throw new Error(said);
  };
  await until(/^Up\./m);
  const log = Bun.file(join(folder, "start/logs/manus.log"));
  const pid = Number(/"pid":(\d+)/.exec(await log.text())?.[1]);
  process.kill(pid, "SIGKILL");
  await until(/manus was ended by signal 9.*[\s\S]*restart 1/);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  await reading;
});
