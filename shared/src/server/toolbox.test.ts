import { afterAll, expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../config/config.ts";
import type { KeptTexts } from "../core/text/kept-text.ts";
import type { Tool } from "../core/tools/tool.ts";
import type { BrowserHost } from "../machine/browser/browser.ts";
import * as making from "../machine/browser/create-browsers.ts";
import * as sharing from "../machine/browser/live/shared-pages.ts";
import { profileFiles } from "../machine/browser-profile/profile-files.ts";
import { createSandbox } from "../machine/confinement/create-sandbox.ts";
import type { Sandbox, SandboxTier } from "../machine/sandbox/sandbox.ts";
import * as secretsOf from "../machine/secrets/secrets.ts";
import { openWorkspace } from "../machine/workspace/open-workspace.ts";
import { until } from "../testing/durable/until.ts";
import { riskContextForTest } from "../testing/tool-context.ts";
import * as drawing from "../tools/browser/browser-tools.ts";
import * as extracting from "../tools/browser/extract/extract-content.ts";
import * as hiding from "../tools/browser/secrets/hide-secrets.ts";
import * as turns from "../tools/browser/take-turns.ts";
import * as gits from "../tools/code/git-host.ts";
import * as databasesOf from "../tools/data/servers/database-servers.ts";
import * as observing from "../tools/observation/observe.ts";
import * as guards from "../tools/risk/guard.ts";
import * as finding from "../tools/web/search/search-all.ts";
import * as fetching from "../tools/web/web-fetch.ts";
import * as searching from "../tools/web/web-search.ts";
import * as browsersHere from "./machine/open-browser.ts";
import * as desktops from "./machine/open-desktop.ts";
import { type Machine, openMachine } from "./machine/open-machine.ts";
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

/**
 * A toolbox without a browser on a machine whose sandbox says so of itself, and finds these
 * programs.
 */
async function onMachine(tier: SandboxTier, settings: string, programs: readonly string[] = [], profiles?: KeptTexts) {
  const home = await mkdtemp(join(folder, "home-"));
  await Bun.write(join(home, "manyhands.toml"), `home = "."\n${settings}`);
  const config = await loadConfig({ cwd: home, env: { MANYHANDS_BROWSER_CDP_URL: "http://127.0.0.1:1" } });
  const unconfined = await createSandbox({ mode: "off", folder: home, network: { allow: [] }, limits: {} });
  const sandbox: Sandbox = {
    ...unconfined,
    tier,
    spawn: (command) => unconfined.spawn({ ...command, argv: ["/bin/echo", programs.join("\n")] }),
  };
  return openToolbox(config, { sandbox, python: { found: Promise.resolve(undefined) } } as unknown as Machine, {
    profiles,
  });
}

test.each(["bwrap", "off", "none"] as const)(
  "what is closed ends databases and the browser, also where commands are %s",
  async (tier) => {
    const toolbox = await onMachine(tier, "");
    const { databases, printer } = toolbox;
    if (printer === undefined) throw new Error("no browser");
    using closingDatabases = spyOn(databases, "close");
    using closingBrowser = spyOn(printer as BrowserHost, "close");
    await toolbox.close();
    expect([closingDatabases.mock.calls.length, closingBrowser.mock.calls.length]).toEqual([1, 1]);
  },
);

test("parts are opened together, and if one cannot be, the others are closed", async () => {
  const { openDesktop } = desktops;
  const { openBrowser } = browsersHere;
  const closed: string[] = [];
  const failing = Promise.withResolvers<never>();
  using desktop = spyOn(desktops, "openDesktop").mockImplementation(async (...given) => ({
    ...(await openDesktop(...given)),
    close: async () => void closed.push("desktop"),
  }));
  using browser = spyOn(browsersHere, "openBrowser").mockReturnValue(failing.promise);
  const opening = onMachine("off", "");
  await until(() => browser.mock.calls.length + desktop.mock.calls.length === 2);
  failing.reject(new Error("no browser"));
  await expect(opening).rejects.toThrow("no browser");
  browser.mockImplementation(async (...given) => {
    const opened = await openBrowser(...given);
    const close = async () => void closed.push("browser");
    return { ...opened, browsers: { ...opened.browsers, close } } as never;
  });
  desktop.mockRejectedValue(new Error("no desktop"));
  await expect(onMachine("off", "")).rejects.toThrow("no desktop");
  expect(closed).toEqual(["desktop", "browser"]);
});

test("a browser keeps log-ins in the profile of the settings, no secret in downloads, and reaches its own shell's servers", async () => {
  const settings = `[browser]
profile = "main"
[secrets.shop]
sites = ["https://shop.example"]
env = "SHOP"`;
  const given = async (tier: SandboxTier, toml: string) => {
    using creating = spyOn(making, "createBrowsers");
    await (await onMachine(tier, toml, [], profileFiles(folder))).close();
    const { profile, secretIn, loopback } = creating.mock.calls[0]?.[0] ?? {};
    return [profile?.name, secretIn !== undefined, loopback !== undefined];
  };
  expect(await given("bwrap", settings)).toEqual(["main", true, Bun.which("socat") !== null]);
  expect(await given("off", "")).toEqual([undefined, false, false]);
});

test("secrets that were typed before a restart are known again before any tool is there", async () => {
  const steps: unknown[] = [];
  const recollect = async (signal: AbortSignal) => {
    steps.push(signal.aborted);
    return ["The secret shop is gone."];
  };
  const secrets = { recollect };
  using making = spyOn(secretsOf, "createSecrets").mockReturnValue(secrets as never);
  using bounding = spyOn(AbortSignal, "timeout");
  const settings = '[secrets.shop]\nsites = ["https://shop.example"]\nenv = "SHOP"';
  const toolbox = await onMachine("off", settings);
  await toolbox.close();
  expect(toolbox.notes).toContainEqual("The secret shop is gone. Should a page show it, a model would read it.");
  const [[named, typed] = []] = making.mock.calls;
  expect([named?.map(({ name }) => name), typed !== undefined, steps]).toEqual([["shop"], true, [false]]);
  expect(bounding.mock.calls).toContainEqual([5_000]);
  await (await onMachine("off", "")).close();
  expect(making).toHaveBeenCalledTimes(1);
});

test("a page is shown once the guard knows that it is, and as the settings say: without their secrets, in their pieces", async () => {
  const steps: string[] = [];
  const noted = (step: string) => async () => {
    steps.push(step);
    return undefined;
  };
  const { createBrowsers } = making;
  using _browsers = spyOn(making, "createBrowsers").mockImplementation((settings) => ({
    ...createBrowsers(settings),
    peek: () => ({}) as never,
  }));
  const guard = { over: (tool: Tool) => tool, beforeObservation: noted("guard"), personTyped: noted("typed") };
  using _guard = spyOn(guards, "createGuard").mockReturnValue(guard);
  using _plain = spyOn(observing, "observe").mockImplementation(noted("look"));
  using _hidden = spyOn(hiding, "lookWithSecrets").mockImplementation(noted("look without secrets"));
  using tools = spyOn(hiding, "hidingSecrets");
  using pieces = spyOn(extracting, "extractContent");
  using looked = spyOn(turns, "lookingInTurn");
  using taken = spyOn(turns, "takingTurns");
  using shared = spyOn(sharing, "sharedPages");
  const workspace = await openWorkspace({ home: folder, principal: "ann", contextId: "seen" });
  const options = { signal: AbortSignal.timeout(60_000), vision: false, since: undefined, isFirst: true } as never;
  for (const secrets of ["", '[secrets.shop]\nsites = ["https://shop.example"]\nenv = "SHOP"']) {
    const toolbox = await onMachine("off", `[browser]\nmax_content_length = 1234\n${secrets}`);
    await toolbox.browsing.look?.(workspace, options);
    for (const tool of toolbox.web.slice(0, 1)) toolbox.guarded(tool);
    await toolbox.close();
  }
  expect(steps).toEqual(["guard", "look", "guard", "look without secrets"]);
  expect(tools).toHaveBeenCalledTimes(1);
  // People and the agent use a page in turn, and what a person typed there is theirs.
  const held = [looked, taken].map(({ mock }) => mock.calls.map(([, holds]) => holds));
  expect([held[0]?.length, held[0]]).toEqual([2, held[1]]);
  expect(shared.mock.calls.map(([, typed]) => typed === guard.personTyped)).toEqual([true, true]);
  expect(pieces.mock.calls.map(([{ pieceCharacters }]) => pieceCharacters)).toEqual([1_234, 1_234]);
});

test("an agent has a desktop where the settings want one and this machine has it; otherwise the operator is told", async () => {
  const wanted = "[desktop]\nenabled = true";
  const closed: string[] = [];
  const { openDesktop } = desktops;
  using _ = spyOn(desktops, "openDesktop").mockImplementation(async (...given) => {
    const desktop = await openDesktop(...given);
    const close = () => desktop.close().then(() => void closed.push("desktop"));
    return { ...desktop, close };
  });
  const there = await onMachine("bwrap", wanted, ["Xvfb", "xdotool"]);
  expect([there.desktop.map(({ name }) => name), there.notes]).toEqual([["computer_use"], []]);
  expect(Object.values(there.live).map((pages) => pages !== undefined)).toEqual([true, true]);
  const missing = await onMachine("bwrap", wanted, ["Xvfb"]);
  expect([missing.desktop, missing.live.desktop]).toEqual([[], undefined]);
  expect(missing.notes).toEqual([expect.stringContaining("xdotool not found")]);
  await Promise.all([there.close(), missing.close()]);
  expect(closed).toEqual(["desktop", "desktop"]);
});

test("the servers of a conversation need no leave where they are its sandbox's own or trusted, this machine's do", async () => {
  const workspace = await openWorkspace({ home: folder, principal: "ann", contextId: "own" });
  const url = "http://localhost:3000/?d=1";
  const risk = async (tier: SandboxTier, settings = "") => {
    const toolbox = await onMachine(tier, settings);
    const fetching = toolbox.web.find(({ name }) => name === "web_fetch");
    const context = riskContextForTest(workspace, { takenIn: ["file"] });
    const said = fetching && (await toolbox.guarded(fetching).risk?.({ url }, context));
    await toolbox.close();
    return said;
  };
  const asked = `Open “${url}”, which you did not name`;
  expect(await risk("off")).toBe(asked);
  expect(await risk("off", '[browser]\ntrusted_hosts = ["localhost"]')).toBeUndefined();
  expect(await risk("bwrap", '[egress]\nallow = ["localhost:3000"]')).toBe(asked);
  if (Bun.which("socat") !== null) expect(await risk("bwrap")).toBeUndefined();
});

test("what tools fetch goes through the proxy of the settings", async () => {
  const asked: string[] = [];
  const data = (socket: Bun.Socket, head: Buffer) => {
    asked.push(head.toString().split("\r\n")[0] ?? "");
    socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  };
  const proxy = Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data } });
  const toolbox = await onMachine("off", `[egress]\nallow = ["203.0.113.9"]\nproxy = "http://127.0.0.1:${proxy.port}"`);
  const signal = AbortSignal.timeout(20_000);
  const bounds = { signal, timeoutMs: 20_000, maxBytes: 1_000 };
  await toolbox.egress?.fetch({ url: "https://203.0.113.9/x", ...bounds }).catch(() => undefined);
  expect(asked).toEqual(["CONNECT 203.0.113.9:443 HTTP/1.1"]);
  await toolbox.close();
  proxy.stop(true);
});

test("the web is read in the language and with the browser of the settings, and calls are judged by their scope", async () => {
  using search = spyOn(searching, "webSearch");
  using fetch = spyOn(fetching, "webFetch");
  using browsing = spyOn(drawing, "browserTools");
  using guard = spyOn(guards, "createGuard");
  using hosts = spyOn(gits, "createGitHosts");
  using servers = spyOn(databasesOf, "createDatabaseServers");
  using found = spyOn(finding, "searchAll").mockResolvedValue({ found: ["a page"], failures: [] } as never);
  const settings = `[search]
lang = "de"
country = "at"
[browser]
scope = "open"
trusted_hosts = ["a.example"]
[git."git.example"]
[databases.shop]
url = "sqlite:shop.db"`;
  const toolbox = await onMachine("off", settings);
  const page = { egress: toolbox.egress, robots: expect.anything(), browser: toolbox.printer };
  expect(search.mock.calls).toEqual([[{ ...page, engines: expect.anything(), lang: "de", country: "at" }]] as never);
  expect(fetch.mock.calls).toEqual([[page]] as never);
  const { looks, search: searched } = browsing.mock.calls[0]?.[0] ?? {};
  const [judged] = guard.mock.calls[0] ?? [];
  expect(judged).toMatchObject({ scope: "open", trusted: ["a.example"] });
  expect([judged?.looks === looks, judged?.browsers === toolbox.printer]).toEqual([true, true]);
  const { signal } = new AbortController();
  expect(await searched?.("primes", signal)).toEqual(["a page"] as never);
  expect(found.mock.calls[0]?.slice(1)).toEqual([{ query: "primes", count: 5, lang: "de", country: "at" }, signal]);
  expect(hosts.mock.calls[0]?.[0].map(({ host }) => host)).toEqual(["git.example"]);
  expect(Object.keys(servers.mock.calls[0]?.[0] ?? {})).toEqual(["shop"]);
  await toolbox.close();
});
