import * as z from "zod";

/** The input of the reading process, as its argument; the document is its standard input. */
export const documentRequest = z.strictObject({
  name: z.string(),
  part: z.string().optional(),
  /** Only the passages that hold one of these texts. */
  find: z.array(z.string()).optional(),
  from: z.int(),
  characters: z.int(),
  /** The characters instead, of a document that is many times as long. */
  beginning: z.int().optional(),
  pictures: z.int(),
  /** What becomes of pages without text; `draw`: of every page, besides its text. */
  scans: z.enum(["show", "recognise", "name", "draw"]),
});

const picture = z.strictObject({ mediaType: z.enum(["image/png", "image/jpeg"]), data: z.base64() });

/** The result of the reading process. */
export const documentExtract = z.strictObject({
  /** What the document is, in our words. */
  about: z.string(),
  text: z.string(),
  pictures: z.array(picture),
  /**
   * All of it as a body of HTML with its pictures, where `draw` was asked for and its kind has one.
   */
  html: z.string().optional(),
  /** The first and last piece of `text`: `page 3`. */
  shown: z.strictObject({ first: z.string(), last: z.string() }).optional(),
  /** Instead of `shown`, where a text was looked for: the pieces that hold it. */
  places: z.array(z.string()).optional(),
  /** Then also in how many places each text is, of the whole part. */
  found: z.array(z.int()).optional(),
  /** What to ask for to see what follows; left out at the end. */
  next: z.strictObject({ part: z.string(), from: z.int().optional() }).optional(),
});

/** What the reading process is asked for. */
export type DocumentRequest = z.output<typeof documentRequest>;
/** A picture of a page. */
export type Picture = z.output<typeof picture>;
/** What was read of a document. */
export type DocumentExtract = z.output<typeof documentExtract>;
