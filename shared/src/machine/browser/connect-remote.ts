import type { Browser } from "playwright";
import { AppError } from "../../core/errors.ts";

const connectMs = 30_000;

/** Connects to a browser that runs already. Rejects with `unavailable`; the address may hold a secret and is not told in full. */
export async function connectRemote(kind: "cdp" | "playwright", url: string): Promise<Browser> {
  const { chromium } = await import("playwright");
  try {
    if (kind === "cdp") return await chromium.connectOverCDP(url, { timeout: connectMs });
    return await chromium.connect(url, { timeout: connectMs });
  } catch (cause) {
    const host = URL.parse(url)?.host ?? "the configured address";
    throw new AppError("unavailable", `The browser at ${host} cannot be reached.`, { cause });
  }
}

/** Whether an address is one of this machine, whose loopback the browser behind it shares with us. */
export function isHere(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? "";
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host);
}
