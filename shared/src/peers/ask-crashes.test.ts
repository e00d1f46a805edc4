import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as z from "zod";
import { createEmbeddedEngine } from "../durable/embedded/embedded-engine.ts";
import { agentServerForTest } from "./agent-server-for-test.ts";
import type { askerSettings } from "./asker-child-for-test.ts";

/** Runs a process that asks until it ends; whether it killed itself. */
async function crashed(settings: z.input<typeof askerSettings>): Promise<boolean> {
  const program = new URL("./asker-child-for-test.ts", import.meta.url).pathname;
  const child = Bun.spawn([process.execPath, program, JSON.stringify(settings)], { stdout: "ignore", stderr: "pipe" });
  const killer = setTimeout(() => child.kill("SIGTERM"), 20_000);
  const said = await new Response(child.stderr).text();
  await child.exited;
  clearTimeout(killer);
  if (child.signalCode !== "SIGKILL" && child.exitCode !== 0) throw new Error(`the asker failed: ${said}`);
  return child.signalCode === "SIGKILL";
}

type Asked = {
  readonly crashed: boolean;
  readonly run: string | undefined;
  readonly output: unknown;
  readonly events: readonly string[];
  readonly tasks: readonly string[];
  readonly modelCalls: number;
};

/** One ask whose process kills itself at this point and is started again. */
async function ask(crashAt: string, { cancel }: { cancel: boolean }): Promise<Asked> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-ask-crash-"));
  await using helper = await agentServerForTest({
    script: () => (cancel ? { text: "never ending", stallAfter: 1 } : { text: "the answer", delayMs: 20 }),
  });
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  try {
    const { run } = await engine.start({ kind: "asker", input: null, principal: "p", contextId: "c" });
    const settings = { home, url: helper.url, cancel };
    const first = await crashed({ ...settings, crashAt });
    if (first) await crashed(settings);
    const record = await engine.get(run.id);
    return {
      crashed: first,
      run: record?.status,
      output: record?.output,
      events: (await engine.events(run.id)).map(({ event }) => event.type),
      tasks: (await helper.tasks()).map(({ status }) => status),
      modelCalls: helper.model.requests.length,
    };
  } finally {
    await engine.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** Goes on, from the first durable write to the last, in two lanes; how often a process was killed. */
async function everyPoint(cancel: boolean, expectRight: (asked: Asked) => void): Promise<number> {
  let crashes = 0;
  const lane = async (suffix: string) => {
    for (let n = 1; ; n++) {
      const asked = await ask(`${n}${suffix}`, { cancel });
      expectRight(asked);
      if (!asked.crashed) return;
      crashes++;
    }
  };
  await Promise.all([lane(""), lane("+")]);
  return crashes;
}

test("an asker killed at any durable write: the agent has one task, its model is asked once, and the answer is the outcome", async () => {
  const crashes = await everyPoint(false, (asked) => {
    expect(asked).toMatchObject({
      run: "completed",
      output: { state: "completed", answer: "the answer" },
      tasks: ["completed"],
      modelCalls: 1,
    });
    for (const type of ["agent-asked", "agent-accepted", "agent-answered"])
      expect([type, asked.events.filter((each) => each === type).length]).toEqual([type, 1]);
    expect(asked.events.at(-1)).toBe("run-ended");
  });
  expect(crashes).toBeGreaterThan(12);
}, 90_000);

test("an asker killed at any durable write of a run that is canceled: no task stays at work at the agent", async () => {
  const crashes = await everyPoint(true, (asked) => {
    expect(asked).toMatchObject({ run: "canceled", tasks: ["canceled"] });
  });
  expect(crashes).toBeGreaterThan(12);
}, 90_000);
