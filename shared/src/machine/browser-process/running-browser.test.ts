import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { chown, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext } from "playwright";
import type { EgressProxy } from "../egress/proxy.ts";
import type { TellRequest } from "../egress/proxy-access.ts";
import { playwrightChromium } from "./playwright.ts";
import { startBrowser } from "./running-browser.ts";
import { type BrowserSettings, browserDefaults } from "./settings.ts";

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "manyhands-running-"));
});
afterEach(() => rm(base, { recursive: true }));

const proxy = { url: "http://127.0.0.1:1" } as EgressProxy;
const settings = (changes: Partial<BrowserSettings>): BrowserSettings => ({
  ...{ ...browserDefaults, folder: base, policy: { allow: [], deny: [], only: [] } },
  ...changes,
});
const start = (changes: Partial<BrowserSettings>, by = proxy) => startBrowser(async () => base, by, settings(changes));
/** A browser elsewhere with these contexts. */
function browserOf(contexts: readonly Partial<BrowserContext>[] = []) {
  const closings: string[] = [];
  const close = async () => void closings.push("closed");
  return { browser: { contexts: () => contexts, close } as unknown as Browser, closings };
}

test("a running browser is connected to as its address says, and is here only on this machine's loopback", async () => {
  const chromium = await playwrightChromium();
  const { browser, closings } = browserOf();
  using cdp = spyOn(chromium, "connectOverCDP").mockImplementation((async () => browser) as never);
  using wss = spyOn(chromium, "connect").mockImplementation((async () => browser) as never);
  const here = async (cdpUrl: string) => (await start({ cdpUrl })).here;
  for (const url of ["http://localhost:1", "http://127.0.0.1:1", "ws://127.9.8.7/a", "http://[::1]:1"])
    expect([url, await here(url)]).toEqual([url, true]);
  for (const url of ["http://localhost.example", "http://a.localhost", "http://8.8.8.8", "ws://127.0.0.1.example/"])
    expect([url, await here(url)]).toEqual([url, false]);
  expect(cdp.mock.calls[0] as unknown[]).toEqual(["http://localhost:1", { timeout: 30_000, noDefaults: false }]);
  expect(wss).not.toHaveBeenCalled();
  const running = await start({ wssUrl: "wss://far.example/?token=t" });
  expect(wss.mock.calls as unknown[]).toEqual([["wss://far.example/?token=t", { timeout: 30_000 }]]);
  expect(running).toMatchObject({ kind: "playwright", here: false, sandbox: "that of the browser connected to" });
  expect(await running.folder("kept")).toBe(join(base, "kept"));
  expect(await readdir(base)).toEqual(["kept"]);
  running.kill();
  await running.close();
  expect(closings).toEqual(["closed", "closed"]);
});

test("the user's own window of a running browser is used as it is, and its dialogs are left", async () => {
  const chromium = await playwrightChromium();
  const heard: string[] = [];
  const own = { on: (event: string) => heard.push(event) } as unknown as BrowserContext;
  const found = [browserOf([own]), browserOf()];
  const connect = (async () => found.shift()?.browser) as never;
  using cdp = spyOn(chromium, "connectOverCDP").mockImplementation(connect);
  const asked = { cdpUrl: "http://127.0.0.1:1", ownContext: true };
  const running = await start(asked);
  expect([running.kind, running.own?.context === own, running.own?.listeners]).toEqual(["cdp", true, undefined]);
  expect(heard).toEqual(["dialog"]);
  expect(cdp.mock.calls[0] as unknown[]).toEqual(["http://127.0.0.1:1", { timeout: 30_000, noDefaults: true }]);
  await expect(start(asked)).rejects.toMatchObject({
    ...{ code: "unavailable", message: "The browser at browser.cdp_url has no window of its own." },
  });
});

test("of a browser that is not reached only the host is told", async () => {
  const chromium = await playwrightChromium();
  const refuse = () => Promise.reject(new Error("token=canary"));
  using _cdp = spyOn(chromium, "connectOverCDP").mockImplementation(refuse);
  using _wss = spyOn(chromium, "connect").mockImplementation(refuse);
  const said = (changes: Partial<BrowserSettings>) =>
    start(changes).then(
      () => "started",
      ({ code, message }) => `${code}: ${message}`,
    );
  const wssUrl = "wss://u:canary@far.example:9/canary?token=canary";
  expect(await said({ wssUrl })).toBe("unavailable: The browser at far.example:9 cannot be reached.");
  const cdpUrl = "http://near.example/canary";
  expect(await said({ cdpUrl, ownContext: true })).toBe(
    "unavailable: The browser at near.example cannot be reached, or a dialog is open in one of its tabs.",
  );
  expect(await said({ cdpUrl: "canary" })).toBe(
    "unavailable: The browser at the configured address cannot be reached.",
  );
});

test("all who use the user's own browser hear of its requests, and so does the server", async () => {
  const chromium = await playwrightChromium();
  const told: string[] = [];
  let tell: TellRequest | undefined;
  const admit: EgressProxy["admit"] = (by) => {
    tell = by;
    return { username: "name", password: "word", revoke: () => undefined };
  };
  const browser = browserOf().browser;
  const context = { on: () => context, browser: () => browser, close: async () => undefined };
  using _own = spyOn(chromium, "launchPersistentContext").mockImplementation((async () => context) as never);
  const program = join(base, "chromium");
  await writeFile(program, "#!/bin/sh\necho Chromium 140.0\n", { mode: 0o755 });
  const userDataDir = join(base, "data");
  await mkdir(userDataDir);
  if (process.getuid?.() === 0) await chown(userDataDir, 4242, 4242);
  const asked = { executable: program, ownContext: true, userDataDir, headless: false };
  const onRequest: TellRequest = ({ target }) => told.push(`server ${target}`);
  const running = await start({ ...asked, onRequest }, { ...proxy, admit });
  expect(running).toMatchObject({ kind: "chromium", here: true });
  for (const name of ["a", "b"]) running.own?.listeners?.add(({ target }) => told.push(`${name} ${target}`));
  tell?.({ method: "GET", target: "http://x/", refused: undefined });
  expect(told).toEqual(["server http://x/", "a http://x/", "b http://x/"]);
  await running.close();
});
