import { resolve } from "node:path";
import * as z from "zod";
import { runOwnScript } from "../../machine/process/run-own-script.ts";

const shownImage = z.strictObject({
  format: z.string(),
  width: z.int(),
  height: z.int(),
  shownWidth: z.int(),
  shownHeight: z.int(),
  mediaType: z.enum(["image/png", "image/jpeg"]),
  data: z.base64(),
});

/**
 * An image prepared for a model: within the requested size, and at most 5 MB. `width`, `height` and
 * `format` are those of the original.
 */
export type ShownImage = z.output<typeof shownImage>;

const deadlineMs = 20_000;
const memoryBytes = 1.5 * 2 ** 30;
const screen = { width: 1920, height: 1080 };

/**
 * Decodes an untrusted image and shrinks it where necessary (to 1920 × 1080 by default), in a
 * separate process that has no access to files or the network. Rejects with `too_large` above 50
 * million pixels or 1.5 GB of memory, with `unsupported` when it cannot be decoded, with `timeout`,
 * and with the signal's reason.
 */
export async function showImage(
  content: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
  box: { readonly width: number; readonly height: number } = screen,
): Promise<ShownImage> {
  return await runOwnScript({
    script: resolve(import.meta.dir, "image-worker.ts"),
    args: [String(box.width), String(box.height)],
    stdin: new Blob([content]),
    subject: "The image",
    deadlineMs,
    memoryBytes,
    signal,
    result: shownImage,
  });
}
