import { afterAll, beforeAll, expect, jest, test } from "bun:test";
import { EventEmitter } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { followLocalDownloads } from "./local-downloads.ts";
import { createNotices } from "./notices.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
beforeAll(async () => {
  place = await workspaceForTest();
});
afterAll(() => place[Symbol.asyncDispose]());

/** A context's downloads, and the browser that tells of those of every context. */
async function scene({ downloadMs = 60_000, secretIn }: { downloadMs?: number; secretIn?: () => string } = {}) {
  const sent: string[] = [];
  const ofBrowser = Object.assign(new EventEmitter(), {
    send: async (method: string, { guid = "", browserContextId = "" } = {}) =>
      void sent.push([method, guid, browserContextId].filter((part) => part !== "").join(" ")),
    detach: async () => void sent.push("detached"),
  });
  const ofPage = {
    send: async () => ({ targetInfo: { browserContextId: "context-1" } }),
    detach: async () => void sent.push("page detached"),
  };
  const browser = { newBrowserCDPSession: async () => ofBrowser } as unknown as Browser;
  const page = { context: () => ({ newCDPSession: async () => ofPage }) } as unknown as Page;
  const folder = join(place.home, crypto.randomUUID());
  await mkdir(folder);
  const notices = createNotices();
  const { workspace } = place;
  const options = { workspace, notices, downloadBytes: 1_000, downloadMs, secretIn };
  const downloads = await followLocalDownloads(browser, page, folder, options);
  const begin = (guid: string, suggestedFilename = `${guid}.txt`) =>
    ofBrowser.emit("Browser.downloadWillBegin", { guid, suggestedFilename });
  const tell = (guid: string, state: string, receivedBytes = 0, totalBytes = 0) =>
    ofBrowser.emit("Browser.downloadProgress", { guid, state, receivedBytes, totalBytes });
  const write = (name: string, text = "data") => writeFile(join(folder, name), text);
  const isThere = (name: string) => existsSync(join(folder, name));
  return { sent, begin, tell, write, isThere, downloads, notices, folder };
}

test("the browser keeps a context's downloads by number in its own folder, and one that is complete is put into the workspace", async () => {
  const { sent, begin, tell, write, isThere, downloads, notices, folder } = await scene();
  expect(sent).toEqual(["page detached", "Browser.setDownloadBehavior context-1"]);
  begin("g1", "report.csv");
  await write("g1.crdownload");
  tell("g1", "inProgress", 4, 4);
  await write("g1", "four");
  tell("g1", "completed", 4, 4);
  await downloads.settled(true);
  expect(sent.at(-1)).toBe("Browser.getVersion");
  expect(notices.take()).toEqual(["A file was downloaded to downloads/report.csv (4 bytes)."]);
  expect([await Bun.file(join(place.workspace.root, "downloads/report.csv")).text(), isThere("g1")]).toEqual([
    "four",
    false,
  ]);
  begin("g2");
  await downloads.stop();
  expect([sent.at(-1), existsSync(folder)]).toEqual(["detached", false]);
});

test("a download of another conversation is neither told nor stopped nor kept, whatever becomes of it", async () => {
  const { sent, begin, tell, downloads, notices } = await scene({ downloadMs: 10 });
  for (const [guid, end] of [
    ["f1", "completed"],
    ["f2", "canceled"],
  ] as const) {
    begin(guid);
    tell(guid, "inProgress", 5_000, 5_000);
    await Bun.sleep(20);
    tell(guid, end, 5_000, 5_000);
  }
  // It is over, so nothing waits for it.
  await downloads.settled(true);
  await downloads.settled(false);
  expect(notices.take()).toEqual([]);
  expect(sent.filter((one) => one.startsWith("Browser.cancel"))).toEqual([]);
  await downloads.stop();
});

test("one that is or will be too large, or takes too long, is stopped in the browser; one that breaks off is told", async () => {
  const { sent, begin, tell, write, isThere, downloads, notices } = await scene();
  const cancelled = (name: string) => `The download of "${name}.txt" was cancelled: it is larger than 0 MB.`;
  for (const [guid, received, total] of [
    ["large", 1_001, 0],
    ["announced", 10, 1_001],
  ] as const) {
    begin(guid);
    await write(`${guid}.crdownload`);
    tell(guid, "inProgress", received, total);
    await downloads.settled(false);
    expect([sent.at(-1), notices.take()]).toEqual([`Browser.cancelDownload ${guid} context-1`, [cancelled(guid)]]);
    // What the browser says of it afterwards is no news.
    tell(guid, "canceled", received, total);
    expect(notices.take()).toEqual([]);
  }
  begin("exact");
  await write("exact", "x".repeat(1_000));
  tell("exact", "completed", 1_000, 1_000);
  begin("broken");
  await write("broken");
  tell("broken", "canceled");
  await downloads.settled(false);
  expect(notices.take().toSorted()).toEqual([
    "A file was downloaded to downloads/exact.txt (1000 bytes).",
    'The download of "broken.txt" broke off.',
  ]);
  expect(["exact", "broken"].map(isThere)).toEqual([false, false]);
  await downloads.stop();
});

test("a download of its own that takes too long is stopped, and one that has ended in time is not", async () => {
  const { sent, begin, tell, write, downloads, notices } = await scene({ downloadMs: 5_000 });
  jest.useFakeTimers();
  try {
    for (const guid of ["slow", "quick"]) {
      begin(guid);
      await write(guid);
      tell(guid, "inProgress", 1, 10);
    }
    tell("quick", "canceled");
    jest.advanceTimersByTime(4_999);
    expect(sent.filter((one) => one.includes("cancelDownload"))).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(sent.filter((one) => one.includes("cancelDownload"))).toEqual(["Browser.cancelDownload slow context-1"]);
    expect(notices.take()).toEqual([
      'The download of "quick.txt" broke off.',
      'The download of "slow.txt" was cancelled: it took longer than 5 s.',
    ]);
    begin("late");
    await write("late");
    tell("late", "inProgress", 1, 10);
  } finally {
    jest.useRealTimers();
  }
  await downloads.stop();
});

test("an act that began a download waits for it, and one that did not waits for its own conversation's alone", async () => {
  const { begin, tell, write, downloads } = await scene();
  begin("foreign");
  begin("own");
  await write("own.crdownload");
  tell("own", "inProgress", 1, 10);
  const done: string[] = [];
  const began = downloads.settled(true).then(() => done.push("began"));
  const other = downloads.settled(false).then(() => done.push("other"));
  await Bun.sleep(400);
  expect(done).toEqual([]);
  await write("own", "0123456789");
  tell("own", "completed", 10, 10);
  await other;
  expect(done).toEqual(["other"]);
  tell("foreign", "completed", 10, 10);
  await began;
  await downloads.stop();
});

test("a download that holds a secret is not kept", async () => {
  const { begin, tell, write, isThere, downloads, notices } = await scene({ secretIn: () => "bank" });
  begin("s1");
  await write("s1");
  tell("s1", "completed", 4, 4);
  await downloads.settled(true);
  expect([notices.take(), isThere("s1")]).toEqual([
    ['The download of "s1.txt" could not be kept: It holds the secret bank.'],
    false,
  ]);
  await downloads.stop();
});
