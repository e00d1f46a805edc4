import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { BrowserContext, Download, Page } from "playwright";
import { countBytes } from "../egress/proxy-relay.ts";
import { cancelled, type DownloadOptions, type Downloads, keepDownload, notKept } from "./downloads.ts";

/**
 * Fetches, through Playwright, the downloads of a browser that is not ours; `folder` is for
 * unfinished files.
 */
export function followRemoteDownloads(context: BrowserContext, folder: string, options: DownloadOptions): Downloads {
  const running = new Set<Promise<void>>();
  const watch = (page: Page) =>
    page.on("download", (download) => {
      const fetched = fetchDownload(download, join(folder, crypto.randomUUID()), options);
      running.add(fetched);
      void fetched.finally(() => running.delete(fetched));
    });
  for (const page of context.pages()) watch(page);
  context.on("page", watch);
  return {
    async settled() {
      await Promise.all(running);
    },
    stop: () => rm(folder, { recursive: true, force: true }),
  };
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
