import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Download, Page } from "playwright";
import { countBytes } from "../egress/proxy-relay.ts";
import { cancelled, type DownloadOptions, type Downloads, keepDownload, notKept } from "./downloads.ts";
import type { Notices } from "./notices.ts";

/** Downloads of pages that are named one by one. */
export type WatchedDownloads = Downloads & { watch(page: Page): void };

/**
 * Fetches the downloads of pages through Playwright; `folder` is for unfinished files.
 */
export function followRemoteDownloads(folder: string, options: DownloadOptions): WatchedDownloads {
  const running = new Set<Promise<void>>();
  return {
    watch: (page) =>
      void page.on("download", (download) => {
        const fetched = fetchDownload(download, join(folder, crypto.randomUUID()), options);
        running.add(fetched);
        void fetched.finally(() => running.delete(fetched));
      }),
    async settled() {
      await Promise.all(running);
    },
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}

/** For a page whose browser saves downloads where its user wants them. */
export async function tellOfDownloads(page: Page, notices: Notices): Promise<void> {
  const session = await page.context().newCDPSession(page);
  session.on("Page.downloadWillBegin", ({ suggestedFilename }) => {
    const name = JSON.stringify(suggestedFilename.slice(0, 100));
    notices.add(`The browser saves the download ${name} where its user's downloads go, not in the workspace.`);
  });
  await session.send("Page.enable");
}

async function fetchDownload(download: Download, file: string, options: DownloadOptions): Promise<void> {
  const { notices, downloadBytes, downloadMs } = options;
  const name = download.suggestedFilename().slice(0, 100);
  let bound: "bytes" | "time" | undefined;
  const timer = setTimeout(() => {
    bound = "time";
    void download.cancel().catch(() => undefined);
  }, downloadMs);
  try {
    const counted = countBytes(downloadBytes, () => {
      bound = "bytes";
    });
    await pipeline(await download.createReadStream(), counted, createWriteStream(file));
    await keepDownload(file, name, options);
  } catch (error) {
    notices.add(bound === undefined ? notKept(name, error) : cancelled(name, bound, options));
  } finally {
    clearTimeout(timer);
    await rm(file, { force: true });
    await download.delete().catch(() => undefined);
  }
}
