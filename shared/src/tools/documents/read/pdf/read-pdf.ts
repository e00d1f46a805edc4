import { getDocumentProxy, getMeta } from "unpdf";
import { AppError, messageOf } from "../../../../core/errors.ts";
import { counted } from "../../../../core/text/counted.ts";
import { numberRange } from "../number-range.ts";
import { type Heading, outlineText } from "../outline.ts";
import type { DocumentPiece, Reading, Scans } from "../reading.ts";
import type { TextPiece } from "./page-lines.ts";
import { pageMarkdown } from "./page-markdown.ts";
import { recogniseText } from "./recognise-text.ts";
import { openRendering, type Rendering } from "./render-page.ts";

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;
type Page = Awaited<ReturnType<Pdf["getPage"]>>;
type Bookmarks = Awaited<ReturnType<Pdf["getOutline"]>>;

/** A page with less text than this is taken for a scan. */
const fewCharacters = 12;
/** Bookmarks below this level are too many to be told. */
const deepest = 4;

/**
 * A PDF, page by page. A page without text is shown as a picture, or its text is recognised, as
 * `scans` says; so is a page with pictures beside its text that is the whole part. Of others it is
 * told how many pictures they have. Its scripts, links and embedded files are left alone.
 */
export async function readPdf(bytes: Uint8Array, part: string | undefined, scans: Scans): Promise<Reading> {
  // The library takes its bytes away.
  const document = await open(bytes.slice());
  const { first, last } = numberRange(part, document.numPages, "page");
  async function* pieces(): AsyncGenerator<DocumentPiece> {
    let rendering: Rendering | undefined;
    let counting: Promise<Rendering | undefined> | undefined;
    const title = first === 1 ? await titleOf(document) : "";
    for (let number = first; number <= last; number++) {
      const page = await document.getPage(number);
      const text = [pageMarkdown(await piecesOf(page)), await fieldsOf(page)].filter((one) => one !== "").join("\n\n");
      page.cleanup();
      const about = { label: `page ${number}`, at: `${number}-${last}` };
      const head = `${number === 1 && title !== "" ? `Title: ${title}\n\n` : ""}[page ${number}]\n`;
      if (text.length >= fewCharacters && scans !== "draw") {
        // A file that only one of the two libraries reads has its text all the same.
        counting ??= openRendering(bytes).catch(() => undefined);
        const isAlone = part !== undefined && first === last;
        yield { ...about, ...(await withPictures(await counting, number, `${head}${text}\n`, { scans, isAlone })) };
      } else if (scans === "name")
        yield { ...about, isUnread: true, text: `${head}(A page without text: a picture or a scan.)\n` };
      else {
        rendering ??= await openRendering(bytes);
        yield { ...about, ...(await scanned(rendering, number, head + (text === "" ? "" : `${text}\n`), scans)) };
      }
    }
  }
  const outline = async () => outlineText(headingsOf(document, await bookmarksOf(document)));
  const about = `PDF, ${counted(document.numPages, "page")}`;
  return { about, pieces: pieces(), extent: { pieces: last - first + 1, outline } };
}

/** Whatever its types say, the library has null for a document without bookmarks. */
async function bookmarksOf(document: Pdf): Promise<Bookmarks> {
  const bookmarks: Bookmarks | null = await document.getOutline().catch(() => null);
  return bookmarks ?? [];
}

/** What the bookmarks name. */
function headingsOf(document: Pdf, bookmarks: Bookmarks, level = 1): Heading[] {
  return bookmarks.flatMap(({ title, dest, items }): Heading[] => [
    { level, title, place: () => pageOf(document, dest).catch(() => undefined) },
    ...(level < deepest ? headingsOf(document, items, level + 1) : []),
  ]);
}

/** The page that a bookmark leads to. */
async function pageOf(document: Pdf, dest: Bookmarks[number]["dest"]): Promise<string | undefined> {
  const [page] = (typeof dest === "string" ? await document.getDestination(dest) : dest) ?? [];
  if (page === undefined || page === null) return undefined;
  return `page ${1 + (typeof page === "number" ? page : await document.getPageIndex(page))}`;
}

async function open(bytes: Uint8Array): Promise<Pdf> {
  try {
    return await getDocumentProxy(bytes, { verbosity: 0, enableXfa: false });
  } catch (error) {
    const isLocked = error instanceof Error && error.name === "PasswordException";
    const why = messageOf(error);
    throw new AppError("unsupported", isLocked ? "The PDF is locked with a password." : `The PDF is damaged: ${why}`);
  }
}

async function titleOf(document: Pdf): Promise<string> {
  const { info } = await getMeta(document).catch(() => ({ info: {} as Record<string, unknown> }));
  return typeof info.Title === "string" ? info.Title.trim().slice(0, 300) : "";
}

async function piecesOf(page: Page): Promise<TextPiece[]> {
  const { items } = await page.getTextContent();
  return items.flatMap((item) => {
    if (!("str" in item) || item.str === "") return [];
    const [a = 0, b = 0, , , x = 0, y = 0] = item.transform as number[];
    return [{ text: item.str, x, y, width: item.width, height: item.height || Math.hypot(a, b) }];
  });
}

/** What is filled in, of a form. */
async function fieldsOf(page: Page): Promise<string> {
  const found = (await page.getAnnotations().catch(() => [])) as readonly Readonly<Record<string, unknown>>[];
  const filled = found.filter(
    ({ fieldName, fieldValue }) => typeof fieldName === "string" && typeof fieldValue === "string" && fieldValue !== "",
  );
  return filled.map(({ fieldName, fieldValue }) => `- field ${fieldName}: ${fieldValue}`).join("\n");
}

/** A page with text, and what is told or shown of the pictures on it. */
async function withPictures(
  rendering: Rendering | undefined,
  number: number,
  text: string,
  { scans, isAlone }: { readonly scans: Scans; readonly isAlone: boolean },
): Promise<Pick<DocumentPiece, "text" | "picture">> {
  const count = rendering?.pictures(number) ?? 0;
  if (rendering === undefined || count === 0) return { text };
  const pictures = counted(count, "picture");
  if (scans !== "show") return { text: `${text}(${pictures} on this page.)\n` };
  const picture = isAlone ? await rendering.picture(number) : undefined;
  if (picture !== undefined) return { text: `${text}(${pictures}: see the page.)\n`, picture };
  return { text: `${text}(${pictures} on this page: part ${number} alone shows it.)\n` };
}

async function scanned(
  rendering: Rendering,
  number: number,
  head: string,
  scans: Scans,
): Promise<Pick<DocumentPiece, "text" | "picture">> {
  const picture = await rendering.picture(number);
  if (picture === undefined) return { text: `${head}(An empty page.)\n` };
  if (scans === "draw") return { text: `${head}\n`, picture };
  if (scans === "show") return { text: `${head}(A page without text: see its picture.)\n`, picture };
  const found = recogniseText(Buffer.from(picture.data, "base64"));
  if ("problem" in found) return { text: `${head}${found.problem}\n` };
  return { text: `${head}(Recognised in a picture, perhaps wrong:)\n${found.text}\n` };
}
