import { afterAll, beforeAll, expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Page } from "playwright";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { createNotices } from "./notices.ts";
import { followRemoteDownloads, tellOfDownloads } from "./remote-downloads.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
let folder: string;
beforeAll(async () => {
  place = await workspaceForTest();
  folder = join(place.home, "unfinished");
  await mkdir(folder);
});
afterAll(() => place[Symbol.asyncDispose]());

/** A download of a browser elsewhere, and what was done to it. */
function downloadForTest(name: string, content: Readable) {
  const done: string[] = [];
  return {
    done,
    suggestedFilename: () => name,
    createReadStream: async () => content,
    cancel: async () => {
      done.push("canceled");
      content.destroy(new Error("It was canceled."));
    },
    delete: async () => void done.push("deleted"),
  };
}

async function fetched(
  name: string,
  content: Readable,
  { downloadMs = 60_000, secretIn = (_: string): string | undefined => undefined } = {},
) {
  const notices = createNotices();
  const page = new EventEmitter() as unknown as Page & EventEmitter;
  const options = { workspace: place.workspace, notices, downloadBytes: 1_000_000, downloadMs, secretIn };
  const downloads = followRemoteDownloads(folder, options);
  downloads.watch(page);
  const download = downloadForTest(name, content);
  page.emit("download", download);
  await downloads.settled(true);
  return { told: notices.take(), done: download.done, left: await readdir(folder) };
}

const kept = async (name: string) => Bun.file(join(place.workspace.root, "downloads", name)).text();

test("a download from a browser elsewhere is in the workspace when it has settled, and nowhere else", async () => {
  const { told, done, left } = await fetched("../a.txt", Readable.from(["one ", "two"]));
  expect(told).toEqual(["A file was downloaded to downloads/a.txt (7 bytes)."]);
  expect([await kept("a.txt"), done, left]).toEqual(["one two", ["deleted"], []]);
});

test("one that is too large, takes too long, breaks off or holds a secret is not kept, and the reason is told", async () => {
  const half = Buffer.alloc(500_000, "x");
  const large = await fetched("large.bin", Readable.from([half, half, Buffer.from("x")]));
  expect(large.told).toEqual(['The download of "large.bin" was cancelled: it is larger than 1 MB.']);
  const exact = await fetched("exact.bin", Readable.from([half, half]));
  expect(exact.told).toEqual(["A file was downloaded to downloads/exact.bin (1000000 bytes)."]);
  const slow = await fetched("slow.bin", new Readable({ read() {} }), { downloadMs: 20 });
  expect(slow.told).toEqual(['The download of "slow.bin" was cancelled: it took longer than 0.02 s.']);
  expect(slow.done).toEqual(["canceled", "deleted"]);
  const broken = new Readable({ read() {} });
  setTimeout(() => broken.destroy(new Error("The host broke off.")), 1);
  const broke = await fetched("broken.bin", broken);
  expect(broke.told).toEqual(['The download of "broken.bin" could not be kept: The host broke off.']);
  const secretIn = (text: string) => (text.includes("hunter2") ? "bank" : undefined);
  const secret = await fetched("secret.txt", Readable.from(["my hunter2"]), { secretIn });
  expect(secret.told).toEqual(['The download of "secret.txt" could not be kept: It holds the secret bank.']);
  for (const { left } of [large, slow, broke, secret]) expect(left).toEqual([]);
  expect((await readdir(join(place.workspace.root, "downloads"))).toSorted()).toEqual(["a.txt", "exact.bin"]);
});

test("where the user's own browser keeps a download, the agent is told that it is not in the workspace", async () => {
  const notices = createNotices();
  const sent: string[] = [];
  const session = Object.assign(new EventEmitter(), { send: async (method: string) => void sent.push(method) });
  await tellOfDownloads({ context: () => ({ newCDPSession: async () => session }) } as unknown as Page, notices);
  session.emit("Page.downloadWillBegin", { suggestedFilename: `${"n".repeat(100)}x` });
  expect(sent).toEqual(["Page.enable"]);
  expect(notices.take()).toEqual([
    `The browser saves the download "${"n".repeat(100)}" where its user's downloads go, not in the workspace.`,
  ]);
});
