import { expect, spyOn, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { Egress } from "../../machine/egress/egress.ts";
import * as documents from "../documents/extract-document.ts";
import * as worker from "../page/extract-in-worker.ts";
import { userAgent } from "../page/robots.ts";
import { readPage } from "./read-page.ts";

test("a page is told by the address at which it was found, each hop of the way admitted", async () => {
  const admitted: string[] = [];
  const egress = {
    async fetch({ admit }: { admit(hop: URL): Promise<void> }) {
      for (const hop of ["https://a.example/old", "https://b.example/new"]) await admit(new URL(hop));
      const headers = { "content-type": "text/plain; charset=utf-8" };
      return { status: 200, headers, body: Buffer.from("words"), url: new URL("https://b.example/new") };
    },
  } as unknown as Egress;
  const robots = { admit: async (hop: URL) => void admitted.push(hop.host) } as never;
  const options = { timeoutMs: 1_000, signal: new AbortController().signal } as never;
  expect(await readPage("https://a.example/old", { egress, robots }, options)).toEqual({
    ...{ url: "https://b.example/new", mediaType: "text/plain", title: "", text: "words" },
  });
  expect(admitted).toEqual(["a.example", "b.example"]);
});

/** What a page of this status is read as, and what was asked for it. */
async function answered(status: number, more: object = {}) {
  const asked: Record<string, unknown>[] = [];
  const egress = {
    async fetch(request: Record<string, unknown>) {
      asked.push(request);
      const headers = { "content-type": "text/plain; charset=iso-8859-1" };
      return { status, headers, body: Uint8Array.of(0xfc), url: new URL("https://a.example/x"), ...more };
    },
  } as unknown as Egress;
  const options = { timeoutMs: 1_234, signal: AbortSignal.timeout(60_000) };
  const page = await readPage("https://a.example/x", { egress, robots: {} as never }, options).catch(
    ({ code, message }) => `${code}: ${message}`,
  );
  return { page, asked, options };
}

test("a server is asked in our name, within bounds, until the call ends", async () => {
  const { page, asked, options } = await answered(200);
  expect(page).toMatchObject({ text: "ü", mediaType: "text/plain" });
  expect(asked).toEqual([
    {
      url: "https://a.example/x",
      headers: { "user-agent": userAgent, accept: expect.stringMatching(/^text\/html,/) },
      ...{ ...options, maxBytes: 10_000_000, admit: expect.any(Function) },
    },
  ]);
  // Signals are alike to a comparison.
  expect(asked[0]?.signal).toBe(options.signal);
});

test.each([
  [199, false],
  [200, true],
  [203, true],
  [299, true],
  [300, false],
  [304, false],
  [404, false],
  [500, false],
])("an answer with the status %p is a page: %p", async (status, isPage) => {
  const { page } = await answered(status);
  if (isPage) expect(page).toMatchObject({ text: "ü" });
  else expect(page).toBe(`unavailable: The server answered with status ${status}.`);
});

test("a page's own addresses are those of where it was found", async () => {
  using extract = spyOn(worker, "extractInWorker").mockImplementation(async () => ({ title: "T", text: "words" }));
  const html = { headers: { "content-type": "text/html" }, body: Buffer.from("<p>words") };
  const { page, options } = await answered(200, { ...html, url: new URL("https://b.example/new") });
  expect(page).toEqual({
    url: "https://b.example/new",
    mediaType: "text/html",
    title: "T",
    text: "words",
    asksPassword: false,
  });
  const [[request, timeoutMs, by] = []] = extract.mock.calls;
  expect([request, timeoutMs]).toEqual([{ html: "<p>words", url: "https://b.example/new" }, 1_234]);
  expect(by).toBe(options.signal);
});

test("of a long document the beginning is read, which is told; one that is broken says so, and a fault of ours does not", async () => {
  const about = { about: "PDF, 900 pages", text: "\u200bwords " };
  const pdf = { headers: {}, body: Buffer.from("%PDF-1.7") };
  using extract = spyOn(documents, "extractDocument").mockImplementation((async () => about) as never);
  const { page, options } = await answered(200, pdf);
  expect(page).toMatchObject({ title: "", text: "words", note: "PDF, 900 pages." });
  const [[, request, by] = []] = extract.mock.calls;
  expect(request).toEqual({ name: "", from: 0, characters: 1_000_000, scans: "name" });
  expect(by).toBe(options.signal);
  extract.mockImplementation((async () => ({ ...about, next: 1_000_000 })) as never);
  expect((await answered(200, pdf)).page).toMatchObject({
    ...{ note: "PDF, 900 pages; only its first 1000000 characters were read.", document: pdf.body },
  });
  extract.mockImplementation(() => Promise.reject(new AppError("invalid_input", "It is damaged.")));
  expect((await answered(200, pdf)).page).toBe("invalid_input: The document cannot be read: It is damaged.");
  extract.mockImplementation(() => Promise.reject(new TypeError("bug")));
  expect((await answered(200, pdf)).page).toBe("undefined: bug");
});
