import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright";
import { AppError } from "../../core/errors.ts";
import { letProgramsRun } from "./apart.ts";
import { findChromium } from "./find-chromium.ts";
import { launchChromium } from "./launch-chromium.ts";
import type { BrowserSettings } from "./settings.ts";

const connectMs = 30_000;

/** A browser in which conversations can get contexts. */
export type RunningBrowser = {
  readonly browser: Browser;
  readonly kind: "chromium" | "cdp" | "playwright";
  readonly sandbox: string;
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
  proxyUrl: string,
  settings: BrowserSettings,
): Promise<RunningBrowser> {
  const { cdpUrl, wssUrl } = settings;
  await letProgramsRun();
  if (cdpUrl !== undefined) return await remote("cdp", cdpUrl, serverFolder);
  if (wssUrl !== undefined) return await remote("playwright", wssUrl, serverFolder);
  const executable = await findChromium(settings.executable);
  const launched = await launchChromium(await serverFolder(), executable, proxyUrl, settings);
  return { ...launched, kind: "chromium", here: true };
}

async function remote(
  kind: "cdp" | "playwright",
  url: string,
  serverFolder: () => Promise<string>,
): Promise<RunningBrowser> {
  const browser = await connectRemote(kind, url);
  const folder = async (name: string) => {
    const path = join(await serverFolder(), name);
    await mkdir(path);
    return path;
  };
  const sandbox = "that of the browser connected to";
  const close = () => browser.close();
  return { browser, kind, sandbox, here: isHere(url), folder, kill: () => void close().catch(() => undefined), close };
}

/**
 * Connects to a running browser. Rejects with `unavailable`; the address may contain a secret and
 * is not quoted in full.
 */
async function connectRemote(kind: "cdp" | "playwright", url: string): Promise<Browser> {
  const { chromium } = await import("playwright");
  try {
    if (kind === "cdp") return await chromium.connectOverCDP(url, { timeout: connectMs });
    return await chromium.connect(url, { timeout: connectMs });
  } catch (cause) {
    const host = URL.parse(url)?.host ?? "the configured address";
    throw new AppError("unavailable", `The browser at ${host} cannot be reached.`, { cause });
  }
}

/** Whether an address is on this machine, so that the browser behind it shares our loopback. */
function isHere(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? "";
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host);
}
