import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type CodePlace, callIn, openCodePlace } from "../../../testing/code/code-place.ts";
import { contextForTest } from "../../../testing/tool-context.ts";
import { unpackTool } from "../unpack.ts";

let place: CodePlace;
beforeAll(async () => {
  place = await openCodePlace();
});
afterAll(() => place.close());

test("what is attached to a mail becomes files, each under a name of its own and within the folder", async () => {
  const part = (name: string, content: string) =>
    `--x\r\nContent-Type: application/pdf${name === "" ? "" : `; name="${name}"`}\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: base64\r\n\r\n${btoa(content)}\r\n`;
  const parts = [part("offer.pdf", "one"), part("Offer.pdf", "two"), part("../../up.pdf", "three"), part("", "four")];
  const mail = `From: a@a.example\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nHello\r\n${parts.join("")}--x--\r\n`;
  const bareMail = "Subject: x\r\n\r\nnothing\r\n";
  const workspace = await place.project({ "vanten.eml": mail, "bare.eml": bareMail });
  const unpack = callIn(workspace);
  const { text, isError } = await unpack(unpackTool(place), { path: "vanten.eml" });
  expect({ text, isError }).toMatchObject({ isError: false });
  expect(text).toStartWith("Unpacked 4 files");
  expect(text).toEndWith("read_document reads the documents among them.");
  expect((await readdir(join(workspace.root, "vanten"))).sort()).toEqual([
    "2-Offer.pdf",
    "attached-4",
    "offer.pdf",
    "up.pdf",
  ]);
  expect(await Bun.file(join(workspace.root, "vanten/2-Offer.pdf")).text()).toBe("two");
  const bare = await unpack(unpackTool(place), { path: "bare.eml" });
  expect(bare).toMatchObject({ isError: true, text: "bare.eml was not unpacked. No file is attached to this mail." });
});

test("a mail that is written to hold its reader holds neither the server nor its memory", async () => {
  const nested = `${"Content-Type: message/rfc822\r\n\r\n".repeat(60)}\r\n${"x\r\n".repeat(2_000_000)}`;
  const workspace = await place.project({ "nested.eml": nested, "lines.eml": "\r\n".repeat(12_000_000) });
  const before = process.memoryUsage.rss();
  let [longest, last, most] = [0, performance.now(), 0];
  const watch = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    most = Math.max(most, process.memoryUsage.rss() - before);
  }, 20);
  const unpack = unpackTool(place);
  for (const path of ["lines.eml", "nested.eml"]) {
    const context = contextForTest(workspace, { signal: AbortSignal.timeout(3_000) });
    await unpack.call({ path }, context).catch(() => undefined);
  }
  clearInterval(watch);
  expect({ longest: Math.max(longest, 1_000), most: Math.max(most, 500e6) }).toEqual({ longest: 1_000, most: 500e6 });
});
