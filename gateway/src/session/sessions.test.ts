import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import type { TaskItem } from "../tasks/task-item.ts";
import { checkoutForTest, liveServer } from "../testing/checkout.ts";
import { cliForTest } from "../testing/cli.ts";

const broken = (exitCode: number) => `console.error("no such model"); process.exit(${exitCode});`;
const lastWords = "swe ended before it was ready:\nno such model";

/** A port of its own for the gateway, on which nobody answers. */
const nowhere = () => ({ GATEWAY_PORT: String(freePort()) });

async function* completing(): AsyncGenerator<TaskItem> {
  yield { kind: "state", taskId: "t1", contextId: "c1", state: "completed" };
}

test("a flow whose agent cannot start is not started: the agent's last output is shown at once", async () => {
  const agents = { manus: liveServer, swe: broken(1) };
  await using checkout = await checkoutForTest({ gateway: liveServer, agents });
  await using cli = await cliForTest({ ...checkout, play: completing, env: nowhere() });
  const startedAt = performance.now();
  let toldMs = 0;
  const watching = setInterval(() => {
    if (cli.said().includes(lastWords)) toldMs ||= performance.now() - startedAt;
  }, 20);
  try {
    expect(await cli.run("flow", "parallel", "compare", "them")).toBe(1);
  } finally {
    clearInterval(watching);
  }
  const tookMs = performance.now() - startedAt;
  expect([cli.sent, toldMs > 0 && toldMs < tookMs / 2]).toEqual([[], true]);
  expect(cli.said()).toEndWith(`Given up on swe. ${lastWords}\n`);
});

test("a configuration that a server refuses ends a command as one that the command refuses itself", async () => {
  await using checkout = await checkoutForTest({ gateway: liveServer, agents: { manus: broken(2) } });
  await using cli = await cliForTest({ ...checkout, play: completing, env: nowhere() });
  expect([await cli.run("run", "compare"), await cli.run("flow", "parallel", "compare")]).toEqual([2, 2]);
  expect(cli.said().split("manus ended before it was ready:\nno such model")).toHaveLength(3);
});

test("an agent that the flow does not use is reported, and the flow continues", async () => {
  const agents = { manus: liveServer, swe: broken(2) };
  await using checkout = await checkoutForTest({ gateway: liveServer, agents });
  await using cli = await cliForTest({ ...checkout, play: completing, env: nowhere() });
  expect(await cli.run("flow", "parallel", "compare", "them", "--agents", "manus")).toBe(0);
  expect([cli.said(), cli.sent]).toMatchObject([expect.stringContaining(lastWords), [{ text: "compare them" }]]);
});

test("an agent that another may ask is reported too, with its last output, while the other works", async () => {
  await using checkout = await checkoutForTest({ agents: { manus: liveServer, swe: broken(1) } });
  const seen = () => cli.said().includes(lastWords);
  await using cli = await cliForTest({
    ...checkout,
    env: nowhere(),
    play: async function* () {
      yield { kind: "state", taskId: "t1", contextId: "c1", state: "working" };
      for (const deadline = Date.now() + 60_000; !seen() && Date.now() < deadline; ) await Bun.sleep(20);
      yield { kind: "state", taskId: "t1", contextId: "c1", state: seen() ? "completed" : "failed" };
    },
  });
  expect(await cli.run("run", "--agent", "manus", "do it")).toBe(0);
});

test("an agent that is asked by one that is asked is started too, and none takes this program's address for its own", async () => {
  const agents = { manus: liveServer, swe: liveServer, browser: broken(1) };
  await using checkout = await checkoutForTest({ agents });
  const publicUrls: string[] = [];
  await using cli = await cliForTest({
    ...checkout,
    env: {
      ...nowhere(),
      PUBLIC_URL: "http://127.0.0.1:9/gateway",
      MANYHANDS_AGENTS_MANUS_DELEGATES: "swe",
      MANYHANDS_AGENTS_SWE_DELEGATES: "browser",
    },
    play: async function* () {
      publicUrls.push(await (await fetch(`${cli.connected[0]}/public`)).text());
      for (const late = Date.now() + 60_000; !cli.said().includes("browser ended before") && Date.now() < late; )
        await Bun.sleep(20);
      yield { kind: "state", taskId: "t1", contextId: "c1", state: "completed" };
    },
  });
  expect(await cli.run("run", "--agent", "manus", "do it")).toBe(0);
  expect([cli.said(), publicUrls]).toEqual([expect.stringContaining("browser ended before it was ready"), [""]]);
});

test.each([
  ["an agent", ["run", "--agent", "manus", "do it"], ["manus"]],
  ["a system", ["flow", "parallel", "compare", "them", "--agents", "manus"], ["manus", "gateway"]],
])(
  "%s that is started for a command has its home, answers on loopback alone, and has drained when it ends",
  async (_, command, servers) => {
    const draining = (name: string) =>
      liveServer.replace(
        "process.exit(0)",
        `setTimeout(() => void Bun.write("${name}-drained", "").then(() => process.exit(0)), 500)`,
      );
    await using checkout = await checkoutForTest({
      gateway: draining("gateway"),
      agents: { manus: draining("manus") },
    });
    const homes: string[] = [];
    await using cli = await cliForTest({
      ...checkout,
      env: nowhere(),
      play: async function* () {
        homes.push(await (await fetch(new URL("/", cli.connected[0]))).text());
        yield* completing();
      },
    });
    expect(await cli.run(...command)).toBe(0);
    expect(homes).toEqual([join(checkout.root, ".manyhands")]);
    expect(cli.connected[0]).toMatch(/^http:\/\/127\.0\.0\.1:\d+/);
    expect(servers.filter((name) => !existsSync(join(checkout.root, `${name}-drained`)))).toEqual([]);
  },
);

test("an agent that was started for a command and crashes is started again at the same address, and the person is told", async () => {
  const mortal = `${liveServer}\nsetInterval(async () => (await Bun.file("fall").exists()) && (await Bun.file("fall").unlink(), process.kill(process.pid, "SIGKILL")), 20);`;
  await using checkout = await checkoutForTest({ agents: { manus: mortal } });
  const answers = (url: string) =>
    fetch(url).then(
      () => true,
      () => false,
    );
  const until = async (url: string, up: boolean) => {
    for (const deadline = Date.now() + 30_000; Date.now() < deadline; await Bun.sleep(20))
      if ((await answers(url)) === up) return true;
    return false;
  };
  await using cli = await cliForTest({
    ...checkout,
    env: nowhere(),
    play: async function* () {
      yield { kind: "state", taskId: "t1", contextId: "c1", state: "working" };
      const [url = ""] = cli.connected;
      await Bun.write(join(checkout.root, "fall"), "");
      const isBack = (await until(url, false)) && (await until(url, true));
      yield { kind: "state", taskId: "t1", contextId: "c1", state: isBack ? "completed" : "failed" };
    },
  });
  expect(await cli.run("run", "--agent", "manus", "do it")).toBe(0);
  expect(cli.said()).toContain("manus was ended by signal 9.\n  Restarting it in");
}, 120_000);
