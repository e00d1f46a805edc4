import * as z from "zod";

/** The input of the process that makes a Word document: a body of our own HTML. */
export const wordRequest = z.strictObject({ title: z.string().optional(), html: z.string() });

/** Its result: the document as base64. */
export const writtenWord = z.strictObject({ content: z.base64() });

/** What is to become a Word document. */
export type WordRequest = z.output<typeof wordRequest>;
