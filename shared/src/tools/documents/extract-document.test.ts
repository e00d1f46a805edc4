import { expect, spyOn, test } from "bun:test";
import * as running from "../../machine/process/run-own-script.ts";
import { claimingZip, wordOf } from "../../testing/documents.ts";
import { extractDocument } from "./extract-document.ts";

const request = { name: "a.pdf", part: "2-", from: 7, characters: 900, scans: "recognise" } as const;

test("a document is read by a script of ours within two minutes and 1.5 GB, with four pictures at most, as long as its task goes on", async () => {
  const extract = { about: "PDF", text: "x", pictures: [] };
  using run = spyOn(running, "runOwnScript").mockResolvedValue(extract);
  const { signal } = new AbortController();
  const content = new Blob(["x"]);
  expect(await extractDocument(content, request, signal)).toEqual(extract);
  const [asked] = run.mock.calls[0] ?? [];
  expect(asked).toMatchObject({
    script: expect.stringMatching(/\/documents\/read\/read-worker\.ts$/),
    subject: "Reading the document",
    deadlineMs: 120_000,
    memoryBytes: 1.5 * 2 ** 30,
  });
  expect([asked?.stdin === content, asked?.signal === signal]).toEqual([true, true]);
  expect(asked?.args?.map((one) => JSON.parse(one))).toEqual([{ ...request, pictures: 4 }]);
});

test("the script itself says why it does not read: too large, a part that is not there, or not to be read", async () => {
  const word = await wordOf("x");
  const large = await claimingZip(word, 401 * 2 ** 20);
  const codes = [large, Buffer.from("From a@b Mon Jan  1 00:00:00 2024\nSubject: x\n\nx"), Buffer.from("PK\x03\x04")];
  const told = codes.map((bytes) =>
    extractDocument(new Blob([bytes as Uint8Array<ArrayBuffer>]), request, new AbortController().signal).catch(
      ({ code }) => code,
    ),
  );
  expect(await Promise.all(told)).toEqual(["too_large", "invalid_input", "unsupported"]);
});
