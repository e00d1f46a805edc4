import type { BrowserCall } from "./browser-tool.ts";

const everyMs = 5_000;

/** Tells who watches, every few seconds, which page is being waited for while `work` goes on. */
export async function tellLoading<T>({ browsing, context }: BrowserCall, work: Promise<T>): Promise<T> {
  const timer = setInterval(() => {
    const loading = browsing.loading();
    if (loading !== undefined)
      context.progress(`Waiting for ${loading.url.slice(0, 200)}: ${loading.seconds} s so far.\n`);
  }, everyMs);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
