import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, CDPSession, Page } from "playwright";
import type { Workspace } from "../workspace/workspace.ts";
import type { Notices } from "./notices.ts";
import type { RunningBrowser } from "./running-browser.ts";
import { saveDownload } from "./save-download.ts";

/** What downloads of a conversation are bounded by, and where they go. */
export type DownloadOptions = {
  readonly workspace: Workspace;
  readonly notices: Notices;
  readonly downloadBytes: number;
  readonly downloadMs: number;
};

/** Follows the downloads of one context. `settled` resolves when none is under way. */
export interface Downloads {
  settled(): Promise<void>;
  stop(): Promise<void>;
}

type Started = { readonly name: string; readonly timer: Timer; ended: boolean; saved: () => void };

/**
 * Has the browser write this context's downloads to a folder of its own, cancels what is too big or takes too long, and puts the rest into the
 * workspace. Playwright itself tells a download's size only when it is complete, so this speaks the DevTools protocol.
 */
export async function followLocalDownloads(
  { browser }: RunningBrowser,
  page: Page,
  folder: string,
  options: DownloadOptions,
): Promise<Downloads> {
  const session = await browser.newBrowserCDPSession();
  const browserContextId = await contextIdOf(page.context(), page);
  const started = new Map<string, Started>();
  const running = new Set<Promise<void>>();
  const { notices, downloadBytes, downloadMs } = options;
  const end = (guid: string, sentence?: string) => {
    const download = started.get(guid);
    if (download === undefined || download.ended) return undefined;
    download.ended = true;
    clearTimeout(download.timer);
    if (sentence !== undefined) notices.add(sentence);
    return download;
  };
  const cancel = (guid: string, why: string) => {
    const download = end(guid, `The download of ${JSON.stringify(started.get(guid)?.name)} was cancelled: ${why}.`);
    if (download === undefined) return;
    const gone = session.send("Browser.cancelDownload", { guid, browserContextId }).catch(() => undefined);
    void gone.then(() => rm(join(folder, guid), { force: true })).finally(download.saved);
  };
  session.on("Browser.downloadWillBegin", ({ guid, suggestedFilename }) => {
    if (started.size > 0 && started.has(guid)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    running.add(promise);
    void promise.then(() => running.delete(promise));
    const timer = setTimeout(() => cancel(guid, `it took longer than ${downloadMs / 1000} s`), downloadMs);
    started.set(guid, { name: suggestedFilename.slice(0, 100), timer, ended: false, saved: resolve });
  });
  session.on("Browser.downloadProgress", ({ guid, state, receivedBytes, totalBytes }) => {
    const download = started.get(guid);
    if (download === undefined || download.ended) return;
    const size = Math.max(receivedBytes, totalBytes);
    if (size > downloadBytes) cancel(guid, `it is larger than ${Math.round(downloadBytes / 10_000) / 100} MB`);
    else if (state === "canceled") end(guid, `The download of ${JSON.stringify(download.name)} broke off.`)?.saved();
    else if (state === "completed") {
      end(guid);
      void keep(join(folder, guid), download.name, options).finally(download.saved);
    }
  });
  await session.send("Browser.setDownloadBehavior", {
    behavior: "allowAndName",
    browserContextId,
    downloadPath: folder,
    eventsEnabled: true,
  });
  return {
    async settled() {
      await Promise.all(running);
    },
    async stop() {
      for (const { timer } of started.values()) clearTimeout(timer);
      await session.detach().catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function keep(file: string, name: string, { workspace, notices }: DownloadOptions): Promise<void> {
  try {
    const { size } = await stat(file);
    const path = await saveDownload(workspace, name, file);
    notices.add(`A file was downloaded to ${path} (${size} bytes).`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    notices.add(`The download of ${JSON.stringify(name)} could not be kept: ${reason}`);
  } finally {
    await rm(file, { force: true });
  }
}

async function contextIdOf(context: BrowserContext, page: Page): Promise<string> {
  const session: CDPSession = await context.newCDPSession(page);
  try {
    const { targetInfo } = await session.send("Target.getTargetInfo");
    return targetInfo.browserContextId ?? "";
  } finally {
    await session.detach();
  }
}
