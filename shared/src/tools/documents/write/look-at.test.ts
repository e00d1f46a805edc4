import { expect, spyOn, test } from "bun:test";
import { AppError } from "../../../core/errors.ts";
import type { DocumentExtract } from "../document-protocol.ts";
import * as extracting from "../extract-document.ts";
import { lookAtPage, lookAtPdf, type Printer, printPage } from "./look-at.ts";

const picture = (data: string) => ({ mediaType: "image/jpeg", data }) as const;
const extract = (...pictures: readonly string[]): DocumentExtract => ({
  about: "PDF, 9 pages",
  text: "x",
  pictures: pictures.map(picture),
});
const image = (data: string) => ({ type: "image", ...picture(data) }) as const;
const unchecked = (why: string) => `How it looks was not checked: ${why}.`;
const printer = (pdf = "pdf"): NonNullable<Printer> => ({ print: async () => Buffer.from(pdf) });

test("the first two pages of a PDF are seen, by a model that sees, and told as what they are", async () => {
  using spy = spyOn(extracting, "extractDocument").mockResolvedValue(extract("a", "b"));
  const { signal } = new AbortController();
  expect(await lookAtPdf(Buffer.from("pdf"), "as printed", { signal })).toEqual({
    about: "PDF, 9 pages",
    images: [image("a"), image("b")],
    told: "You see the first 2 pages as printed.",
  });
  const [content, request, passed] = spy.mock.calls[0] ?? [];
  expect([await (content as Blob).text(), passed === signal]).toEqual(["pdf", true]);
  expect(request).toEqual({ name: "printed.pdf", part: "1-2", from: 0, characters: 100_000, scans: "draw" });
  spy.mockResolvedValue(extract("a"));
  expect((await lookAtPdf(Buffer.from("pdf"), "in short", { signal, vision: true })).told).toBe(
    "You see the first page in short.",
  );
  spy.mockResolvedValue(extract());
  expect(await lookAtPdf(Buffer.from("pdf"), "", { signal })).toEqual({
    about: "PDF, 9 pages",
    images: [],
    told: unchecked("its first pages are empty"),
  });
});

test("for a model that does not see nothing is drawn, and of a PDF it is told what it is", async () => {
  using spy = spyOn(extracting, "extractDocument").mockResolvedValue(extract("a"));
  const context = { signal: new AbortController().signal, vision: false };
  const unseen = { about: undefined, images: [], told: unchecked("you do not see pictures") };
  expect(await lookAtPdf(Buffer.from("pdf"), "", context)).toEqual({ ...unseen, about: "PDF, 9 pages" });
  expect(spy.mock.calls[0]?.[1].scans).toBe("name");
  const page = () => {
    throw new Error("was made");
  };
  expect(await lookAtPage(page, "", printer(), context)).toEqual(unseen);
  const without = await lookAtPage(page, "", undefined, { signal: context.signal });
  expect(without).toEqual({ ...unseen, told: unchecked("there is no browser here that draws it") });
});

test("a page is printed within a minute, as long as its task goes on, and looked at as printed", async () => {
  using _ = spyOn(extracting, "extractDocument").mockImplementation(async (content) =>
    extract(await (content as Blob).text()),
  );
  const { signal } = new AbortController();
  const asked: unknown[] = [];
  const browser: NonNullable<Printer> = {
    async print(html, options) {
      asked.push(html, options.timeoutMs, options.signal === signal);
      return Buffer.from("printed");
    },
  };
  const look = await lookAtPage(async () => "<p>", "so", browser, { signal });
  expect(look).toMatchObject({ told: "You see the first page so.", images: [image("printed")] });
  expect(asked).toEqual(["<p>", 60_000, true]);
  expect(await printPage("<p>", browser, signal)).toEqual(Buffer.from("printed"));
});

test("a page of more than forty million characters is not drawn", async () => {
  using _ = spyOn(extracting, "extractDocument").mockResolvedValue(extract("a"));
  const look = (length: number) =>
    lookAtPage(() => ({ length }) as unknown as string, "so", printer(), { signal: new AbortController().signal });
  expect((await look(40_000_000)).images).toHaveLength(1);
  expect(await look(40_000_001)).toEqual({
    about: undefined,
    images: [],
    told: unchecked("it is too large to be drawn"),
  });
});

test("what cannot be drawn is told, with the reason where it is ours, and an end of the task is an end", async () => {
  using spy = spyOn(extracting, "extractDocument");
  const { signal } = new AbortController();
  for (const [error, why] of [
    [new AppError("timeout", "Too late."), "it could not be drawn (Too late)"],
    [new Error("secret of the machine"), "it could not be drawn"],
  ] as const) {
    spy.mockRejectedValue(error);
    const failed = { about: undefined, images: [], told: unchecked(why) };
    expect(await lookAtPdf(Buffer.from(""), "", { signal })).toEqual(failed);
    const page = () => Promise.reject(error);
    expect(await lookAtPage(page, "", printer(), { signal })).toEqual(failed);
  }
  const ended = AbortSignal.abort("the end");
  expect(await lookAtPdf(Buffer.from(""), "", { signal: ended }).catch((error) => error)).toBe("the end");
  const page = lookAtPage(() => Promise.reject(new Error("x")), "", printer(), { signal: ended });
  expect(await page.catch((error) => error)).toBe("the end");
});
