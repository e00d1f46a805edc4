import { AppError } from "../../core/errors.ts";
import { replyOf } from "../../machine/process/own-script-reply.ts";
import type { ShownImage } from "./shown-image.ts";

/** Started by `showImage`: prepares the image on its standard input for display, and ends. */

const maxPixels = 50_000_000;
const [width, height] = process.argv.slice(-2).map(Number);
const box = { width: width ?? 0, height: height ?? 0 };
const maxShownBytes = 5 * 1024 ** 2;
const quality = 85;

const content = await Bun.stdin.bytes();
await replyOf(() =>
  fit(content).catch((error: { readonly code?: string; readonly message?: string }) => {
    if (error.code === "ERR_IMAGE_TOO_MANY_PIXELS")
      throw new AppError("too_large", "The image has more than 50 million pixels.");
    throw new AppError("unsupported", `It cannot be decoded as an image: ${error.message ?? error}.`);
  }),
);

/** Photographs stay JPEG; everything else becomes a PNG, unless that is too large to send. */
async function fit(content: Uint8Array): Promise<ShownImage> {
  const { width, height, format } = await image(content).metadata();
  const small = image(content).resize(box.width, box.height, { fit: "inside", withoutEnlargement: true });
  const png = format === "jpeg" ? undefined : await small.png().bytes();
  const asPng = png !== undefined && png.length <= maxShownBytes;
  const shown = asPng ? png : await small.jpeg({ quality }).bytes();
  const size = await image(shown).metadata();
  return {
    format,
    width,
    height,
    shownWidth: size.width,
    shownHeight: size.height,
    mediaType: asPng ? "image/png" : "image/jpeg",
    data: Buffer.from(shown).toString("base64"),
  };
}

function image(content: Uint8Array): Bun.Image {
  return new Bun.Image(content, { maxPixels });
}
