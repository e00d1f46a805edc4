import * as z from "zod";

/**
 * The input of the renderer's process, on its standard input. The specification contains its data.
 */
export const renderRequest = z.strictObject({ spec: z.record(z.string(), z.unknown()), png: z.boolean() });

/** Its result. `png` and the smaller `preview` are base64. */
export const renderedChart = z.strictObject({
  svg: z.string(),
  png: z.string().optional(),
  preview: z.string().optional(),
});

/** What the drawing process is asked for. */
export type RenderRequest = z.output<typeof renderRequest>;
/** What the drawing process makes. */
export type RenderedChart = z.output<typeof renderedChart>;
