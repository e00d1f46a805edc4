import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, Page } from "playwright";
import { cancelled, type DownloadOptions, type Downloads, keepDownload } from "./downloads.ts";

/**
 * A download that has started in the browser, of any of its contexts until it is known to be ours.
 */
type Started = {
  readonly name: string;
  readonly timer: Timer;
  readonly ended: PromiseWithResolvers<void>;
  mine: boolean;
};

/** How long an act that began no download waits for one that may be of another context. */
const undecidedMs = 300;

/**
 * Makes the browser write this context's downloads to a separate folder, cancels those that are too
 * large or take too long, and puts the rest into the workspace. Playwright itself reports a
 * download's size only when it is complete, so this uses the DevTools protocol.
 */
export async function followLocalDownloads(
  browser: Browser,
  page: Page,
  folder: string,
  options: DownloadOptions,
): Promise<Downloads> {
  const session = await browser.newBrowserCDPSession();
  const browserContextId = await contextIdOf(page);
  const started = new Map<string, Started>();
  /** Those that have not ended, or are being put into the workspace. */
  const waiting = new Set<Started>();
  const fileOf = (guid: string) => join(folder, guid);
  const finish = (guid: string, work: Promise<unknown> = Promise.resolve()): void => {
    const download = started.get(guid);
    started.delete(guid);
    if (download === undefined) return;
    clearTimeout(download.timer);
    void work
      .then(() => rm(fileOf(guid), { force: true }))
      .finally(() => {
        waiting.delete(download);
        download.ended.resolve();
      });
  };
  const cancel = (guid: string, name: string, bound: "bytes" | "time"): void => {
    options.notices.add(cancelled(name, bound, options));
    finish(
      guid,
      session.send("Browser.cancelDownload", { guid, browserContextId }).catch(() => undefined),
    );
  };
  session.on("Browser.downloadWillBegin", ({ guid, suggestedFilename }) => {
    const name = suggestedFilename.slice(0, 100);
    const late = () => started.get(guid)?.mine === true && cancel(guid, name, "time");
    const timer = setTimeout(late, options.downloadMs);
    const download: Started = { name, timer, ended: Promise.withResolvers(), mine: false };
    started.set(guid, download);
    waiting.add(download);
  });
  session.on("Browser.downloadProgress", ({ guid, state, receivedBytes, totalBytes }) => {
    const download = started.get(guid);
    if (download === undefined) return;
    // The browser reports the downloads of every context; those of this one are in its folder, and
    // its page may already be closed.
    download.mine ||= [fileOf(guid), `${fileOf(guid)}.crdownload`].some((file) => existsSync(file));
    const { mine, name } = download;
    if (!mine) return state === "inProgress" ? undefined : finish(guid);
    if (Math.max(receivedBytes, totalBytes) > options.downloadBytes) cancel(guid, name, "bytes");
    else if (state === "completed") finish(guid, keepDownload(fileOf(guid), name, options));
    else if (state === "canceled") {
      options.notices.add(`The download of ${JSON.stringify(name)} broke off.`);
      finish(guid);
    }
  });
  await session.send("Browser.setDownloadBehavior", {
    behavior: "allowAndName",
    browserContextId,
    downloadPath: folder,
    eventsEnabled: true,
  });
  return {
    async settled(began) {
      // Events of downloads that have started arrive before the response to a later request.
      if (began) await session.send("Browser.getVersion").catch(() => undefined);
      const endOf = (those: readonly Started[]) => Promise.all(those.map(({ ended }) => ended.promise));
      const all = [...waiting];
      const ours = () => endOf(all.filter(({ mine }) => mine));
      await Promise.race(began ? [endOf(all)] : [endOf(all), sleep(undecidedMs).then(ours)]);
    },
    async stop() {
      for (const { timer } of started.values()) clearTimeout(timer);
      await session.detach().catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function contextIdOf(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  try {
    const { targetInfo } = await session.send("Target.getTargetInfo");
    return targetInfo.browserContextId ?? "";
  } finally {
    await session.detach();
  }
}
