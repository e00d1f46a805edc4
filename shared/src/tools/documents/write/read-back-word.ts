import { AppError } from "../../../core/errors.ts";
import { counted } from "../../../core/text/counted.ts";
import { htmlPage } from "../../page/html-page.ts";
import { extractDocument } from "../extract-document.ts";

/** What a document has of these, in words. */
type Counts = { readonly headings: number; readonly tables: number; readonly pictures: number };

/**
 * Reads a Word document back and returns what it has, in words, and its content as a page to be
 * drawn. Rejects with `internal` when it has fewer headings, tables or pictures than the HTML it
 * was made of.
 */
export async function readBackWord(
  html: string,
  content: Uint8Array,
  signal: AbortSignal,
): Promise<{ readonly told: string; readonly page: string }> {
  const request = { name: "written.docx", from: 0, characters: 20_000_000, scans: "draw" } as const;
  const { text, html: body = "" } = await extractDocument(
    new Blob([content as Uint8Array<ArrayBuffer>]),
    request,
    signal,
  );
  const found: Counts = {
    headings: count(text, /^#{1,6} /gm),
    tables: count(text, /^\|(?: --- \|)+$/gm),
    pictures: count(text, /\[picture/g),
  };
  const wanted: Counts = {
    headings: count(html, /<h\d[ >]/g),
    tables: count(html, /<table/g),
    pictures: count(html, /<img /g),
  };
  if (found.headings < wanted.headings || found.tables < wanted.tables || found.pictures < wanted.pictures)
    throw new AppError("internal", `Only ${inWords(found)} of the content could be read back.`);
  return {
    told: `${inWords(found)}, ${counted(text.length, "character")}`,
    page: htmlPage("Document", "en", look + body),
  };
}

const look = "<style>td p, th p { margin: 0; }</style>";

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function inWords({ headings, tables, pictures }: Counts): string {
  return `${counted(headings, "heading")}, ${counted(tables, "table")}, ${counted(pictures, "picture")}`;
}
