import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../config/config.ts";
import { openWorkspace } from "../machine/workspace/open-workspace.ts";
import { riskContextForTest } from "../testing/tool-context.ts";
import { openMachine } from "./machine/open-machine.ts";
import { openToolbox } from "./toolbox.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-toolbox-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What the tools that run commands say of themselves on this machine, and the tier they run in. */
async function shellTold(env: Record<string, string>) {
  const config = await loadConfig({ cwd: folder, env: { MANYHANDS_BROWSER_ENABLED: "0", ...env } });
  const toolbox = await openToolbox(config, await openMachine(join(folder, "workspaces"), config.sandbox));
  await toolbox.close();
  await toolbox.sandbox.close();
  const limits = toolbox.shell.map(({ inputSchema }) => {
    const { description } = (inputSchema.properties as { timeout: { description: string } }).timeout;
    return Number(/default (\d+)/.exec(description)?.[1]);
  });
  return { tier: toolbox.sandbox.tier, limits, told: toolbox.shell.map(({ description }) => description) };
}

test("each tool that runs commands says what they can reach, so that every agent with it knows", async () => {
  const domains = { MANYHANDS_SANDBOX_ALLOW_DOMAINS: "pypi.org, npm.example" };
  const cases = [
    [{}, "It reaches no network."],
    [{ SANDBOX: "srt", ...domains }, "On the network what it runs reaches only pypi.org, npm.example."],
    [{ SANDBOX: "bwrap", ...domains }, "It reaches no network."],
    [{ SANDBOX: "off", ...domains }, "What it runs is not confined: it reaches the network as this machine does."],
  ] as const;
  let seen = 0;
  for (const [env, sentence] of cases) {
    const { tier, told } = await shellTold(env);
    // A tier that this machine cannot have is none.
    if ("SANDBOX" in env && tier !== env.SANDBOX) continue;
    for (const description of told) expect(description).toEndWith(sentence);
    seen += told.length;
  }
  expect(seen).toBeGreaterThan(0);
});

test("a command without a timeout has the configured one, and never more than the maximum", async () => {
  const limits = async (seconds: string) =>
    (await shellTold({ SANDBOX: "off", MANYHANDS_SANDBOX_TIMEOUT: seconds })).limits;
  expect(new Set(await limits("30"))).toEqual(new Set([30]));
  expect(new Set(await limits("5000"))).toEqual(new Set([600]));
});

test("an agent has the web tools unless the web is switched off; then nothing of its server reads it", async () => {
  const opened = async (env: Record<string, string>) => {
    const config = await loadConfig({ cwd: folder, env: { MANYHANDS_BROWSER_ENABLED: "0", SANDBOX: "off", ...env } });
    const toolbox = await openToolbox(config, await openMachine(join(folder, "workspaces"), config.sandbox));
    await toolbox.close();
    await toolbox.sandbox.close();
    return { tools: toolbox.web.map(({ name }) => name), hasEgress: toolbox.egress !== undefined };
  };
  expect(await opened({})).toEqual({ tools: ["web_search", "web_fetch"], hasEgress: true });
  expect(await opened({ MANYHANDS_SEARCH_ENABLED: "0" })).toEqual({ tools: [], hasEgress: false });
});

test("with a browser an agent has its tools and a view of the open page; without one, the reason", async () => {
  const workspace = await openWorkspace({ home: folder, principal: "ann", contextId: "c" });
  const opened = async (env: Record<string, string>) => {
    const config = await loadConfig({ cwd: folder, env: { MANYHANDS_HOME: folder, SANDBOX: "off", ...env } });
    const toolbox = await openToolbox(config, await openMachine(join(folder, "workspaces"), config.sandbox));
    await toolbox.close();
    await toolbox.sandbox.close();
    return toolbox;
  };
  // An address is enough: nothing is connected before the first page.
  const { browsing, notes } = await opened({ MANYHANDS_BROWSER_CDP_URL: "http://127.0.0.1:1" });
  expect(browsing.tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["browser_go_to_url", "browser_snapshot", "browser_extract_content"]),
  );
  expect([browsing.missing, notes]).toEqual([undefined, []]);
  const look = (isFirst: boolean) =>
    browsing.look?.(workspace, {
      signal: AbortSignal.timeout(60_000),
      vision: false,
      since: undefined,
      isFirst,
    } as never);
  expect([await look(true), await look(false)]).toEqual([
    undefined,
    { text: "No page is open in the browser." },
  ] as never);
  const off = await opened({ MANYHANDS_BROWSER_ENABLED: "0" });
  expect(off.browsing).toEqual({
    tools: [],
    look: undefined,
    missing: "The browser is switched off (browser.enabled).",
  });
  expect(off.shell.map(({ name }) => name)).toContain("bash");
  const none = { ...off.sandbox, tier: "none" as const };
  const config = await loadConfig({ cwd: folder, env: { MANYHANDS_HOME: folder, MANYHANDS_BROWSER_ENABLED: "0" } });
  const bare = await openToolbox(config, { sandbox: none, python: { found: Promise.resolve(undefined) } } as never);
  expect([bare.shell, bare.desktop, bare.web.length]).toEqual([[], [], 2]);
  await bare.close();
});

test("also without a browser a person decides about an address that nobody named", async () => {
  const workspace = await openWorkspace({ home: folder, principal: "ann", contextId: "led" });
  const env = { MANYHANDS_HOME: folder, MANYHANDS_BROWSER_ENABLED: "0", SANDBOX: "off" };
  const config = await loadConfig({ cwd: folder, env });
  const toolbox = await openToolbox(config, await openMachine(join(folder, "workspaces"), config.sandbox));
  await toolbox.close();
  await toolbox.sandbox.close();
  const url = "https://evil.example/?d=1";
  const risks = toolbox.web
    .filter(({ name }) => name === "web_fetch")
    .map((tool) => toolbox.guarded(tool).risk?.({ url }, riskContextForTest(workspace, { takenIn: ["file"] })));
  expect(await Promise.all(risks)).toEqual([`Open “${url}”, which you did not name`]);
});
