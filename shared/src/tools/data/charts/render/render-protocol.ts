import * as z from "zod";

/**
 * The input of the renderer's process, on its standard input. The specification contains its data.
 */
export const renderRequest = z.strictObject({ spec: z.record(z.string(), z.unknown()), png: z.boolean() });

/** Its response on standard output. `png` and the smaller `preview` are base64. */
export const renderReply = z.union([
  z.strictObject({ ok: z.literal(true), svg: z.string(), png: z.string().optional(), preview: z.string().optional() }),
  z.strictObject({ ok: z.literal(false), message: z.string() }),
]);

/** What the drawing process is asked for. */
export type RenderRequest = z.output<typeof renderRequest>;
/** What the drawing process answers. */
export type RenderReply = z.output<typeof renderReply>;
