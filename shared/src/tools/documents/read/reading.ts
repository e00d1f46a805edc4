import type { DocumentRequest, Picture } from "../document-protocol.ts";

/** One piece of a document, in reading order: a page, a slide, a row of a sheet. */
export type DocumentPiece = {
  /** Names it for a reader: `page 3`. */
  readonly label: string;
  /** The `part` that begins here and ends where the requested one does. */
  readonly at: string;
  readonly text: string;
  readonly picture?: Picture;
  /** Its text is in a picture, which nobody has read. */
  readonly isUnread?: true;
};

/** A document, read piece by piece as far as somebody asks for it. */
export type Reading = {
  /** What it is, in our words only: `PDF, 300 pages`. */
  readonly about: string;
  readonly pieces: AsyncIterable<DocumentPiece> | Iterable<DocumentPiece>;
  /** Of one whose length can be told: how many pieces make it up, and its headings as a list. */
  readonly extent?: { readonly pieces: number; outline(): Promise<string> };
  /**
   * Its pieces are passages with gaps between them: how often each text that was looked for is in
   * it.
   */
  readonly found?: readonly number[];
  /** All of it as a body of HTML that can be drawn. */
  readonly html?: string;
};

/**
 * What becomes of pages and pictures without text: shown as pictures, recognised by OCR, or only
 * named.
 */
export type Scans = DocumentRequest["scans"];

/** What reading needs to know besides the content. */
export type ReadOptions = {
  /** The file's name; only its extension counts, and only where the content leaves it open. */
  readonly name: string;
  readonly part: string | undefined;
  readonly scans: Scans;
};
