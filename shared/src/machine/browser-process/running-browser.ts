import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright";
import { AppError } from "../../core/errors.ts";
import type { EgressProxy } from "../egress/proxy.ts";
import type { TellRequest } from "../egress/proxy-access.ts";
import { findChromium } from "./find-chromium.ts";
import { letProgramsRun, letProgramsRunInOpened } from "./isolated-world.ts";
import { launchChromium } from "./launch-chromium.ts";
import { leaveDialogs, type OwnContext, type OwnStart } from "./own-browser.ts";
import { playwrightChromium } from "./playwright.ts";
import type { BrowserSettings } from "./settings.ts";

const connectMs = 30_000;

/** A browser in which conversations can get contexts. */
export type RunningBrowser = {
  readonly browser: Browser;
  readonly kind: "chromium" | "cdp" | "playwright";
  readonly sandbox: string;
  /** The user's own context, where the settings ask for it. */
  readonly own: OwnContext | undefined;
  /** Whether it shares this machine's loopback, and so can reach our proxy. */
  readonly here: boolean;
  /** Creates a folder for its files, which the browser can write if it was started here. */
  folder(name: string): Promise<string>;
  /** Gives up a browser that does not respond; it is then disconnected. */
  kill(): void;
  close(): Promise<void>;
};

/**
 * Starts the browser, or connects to the configured one. Rejects with `unavailable` or
 * `config_invalid`.
 */
export async function startBrowser(
  serverFolder: () => Promise<string>,
  proxy: EgressProxy,
  settings: BrowserSettings,
): Promise<RunningBrowser> {
  const { cdpUrl, wssUrl, ownContext, userDataDir } = settings;
  await letProgramsRun();
  if (cdpUrl !== undefined) return await remote("cdp", cdpUrl, serverFolder, ownContext);
  if (wssUrl !== undefined) return await remote("playwright", wssUrl, serverFolder);
  const executable = await findChromium(settings);
  const own = ownContext === true && userDataDir !== undefined ? startOwn(userDataDir, proxy, settings) : undefined;
  const launched = await launchChromium(await serverFolder(), executable, { proxyUrl: proxy.url, settings, own });
  return { ...launched, kind: "chromium", here: true };
}

/** All conversations in the user's own context are one user of the proxy, and hear its refusals. */
function startOwn(folder: string, proxy: EgressProxy, { onRequest }: BrowserSettings): OwnStart {
  const listeners = new Set<TellRequest>();
  const access = proxy.admit((request) => {
    onRequest?.(request);
    for (const tell of listeners) tell(request);
  });
  return { folder, access, listeners };
}

async function remote(
  kind: "cdp" | "playwright",
  url: string,
  serverFolder: () => Promise<string>,
  ownContext = false,
): Promise<RunningBrowser> {
  const browser = await connectRemote(kind, url, ownContext);
  const own = ownContext ? ownContextOf(browser) : undefined;
  if (own !== undefined) await letProgramsRunInOpened();
  const folder = async (name: string) => {
    const path = join(await serverFolder(), name);
    await mkdir(path);
    return path;
  };
  const sandbox = "that of the browser connected to";
  const close = () => browser.close();
  const kill = () => void close().catch(() => undefined);
  return { browser, kind, sandbox, own, here: isHere(url), folder, kill, close };
}

function ownContextOf(browser: Browser): OwnContext {
  const context = browser.contexts()[0];
  if (context === undefined)
    throw new AppError("unavailable", "The browser at browser.cdp_url has no window of its own.");
  leaveDialogs(context);
  return { context, listeners: undefined };
}

/**
 * Connects to a running browser. Rejects with `unavailable`; the address may contain a secret and
 * is not quoted in full.
 */
async function connectRemote(kind: "cdp" | "playwright", url: string, ownContext: boolean): Promise<Browser> {
  const chromium = await playwrightChromium();
  try {
    if (kind === "cdp") return await chromium.connectOverCDP(url, { timeout: connectMs, noDefaults: ownContext });
    return await chromium.connect(url, { timeout: connectMs });
  } catch (cause) {
    const host = URL.parse(url)?.host ?? "the configured address";
    const blocked = ownContext ? ", or a dialog is open in one of its tabs" : "";
    throw new AppError("unavailable", `The browser at ${host} cannot be reached${blocked}.`, { cause });
  }
}

/** Whether an address is on this machine, so that the browser behind it shares our loopback. */
function isHere(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? "";
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host);
}
