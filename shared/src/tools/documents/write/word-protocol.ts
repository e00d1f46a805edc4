import * as z from "zod";

/** The input of the process that makes a Word document: a body of our own HTML. */
export const wordRequest = z.strictObject({ title: z.string().optional(), html: z.string() });

/** Its response: the document as base64. */
export const wordReply = z.union([
  z.strictObject({ ok: z.literal(true), content: z.base64() }),
  z.strictObject({ ok: z.literal(false), message: z.string() }),
]);

/** What is to become a Word document. */
export type WordRequest = z.output<typeof wordRequest>;
