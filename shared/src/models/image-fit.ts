import { GIF } from "image-size/types/gif";
import { JPG } from "image-size/types/jpg";
import { PNG } from "image-size/types/png";
import { WEBP } from "image-size/types/webp";
import type { ImagePart, ImageRule, ModelMessage, ModelRequest, TextPart } from "../core/model.ts";
import { type Size, seenSize } from "./image-rule.ts";

/** Makes an image smaller so that it fits into these pixels. Rejects when it cannot be decoded, or with the signal's reason. */
export type ShrinkImage = (
  content: Uint8Array<ArrayBuffer>,
  size: Size,
  signal: AbortSignal,
) => Promise<Pick<ImagePart, "mediaType" | "data">>;

const readers = { "image/png": PNG, "image/jpeg": JPG, "image/gif": GIF, "image/webp": WEBP } as const;

/** Characters of an image's base64 in which its size is looked for. */
const longestHead = 1_400_000;
/** From this EXIF orientation on, width and height change places. */
const liesOnItsSide = 5;

/** The size that an image's own head says; undefined where it says none that makes sense. Nothing is decoded. */
export function sizeOf({ mediaType, data }: ImagePart): Size | undefined {
  const reader = readers[mediaType as keyof typeof readers];
  if (reader === undefined) return undefined;
  try {
    const bytes = Buffer.from(data.slice(0, longestHead), "base64");
    if (!reader.validate(bytes)) return undefined;
    const { width, height, orientation = 1 } = reader.calculate(bytes);
    if (!(width > 0 && height > 0)) return undefined;
    return orientation < liesOnItsSide ? { width, height } : { width: height, height: width };
  } catch {
    // A head that is cut off or makes no sense.
    return undefined;
  }
}

const mostKept = 32;

/**
 * Sees to it that no image goes out larger than its model's provider looks at it. One that cannot be made smaller goes as it is: whether it is an
 * image at all is for the provider to say. The newest are kept, as a conversation brings the same ones in each turn.
 */
export function createImageFit(rule: ImageRule, shrink: ShrinkImage | undefined) {
  const kept = new Map<string, ImagePart>();

  async function fit(image: ImagePart, signal: AbortSignal): Promise<ImagePart> {
    const size = sizeOf(image);
    if (size === undefined || shrink === undefined) return image;
    const seen = seenSize(size, rule);
    if (seen.width >= size.width && seen.height >= size.height) return image;
    const key = Bun.hash(image.data).toString(36);
    const known = kept.get(key);
    if (known !== undefined) return known;
    const smaller = await shrink(Buffer.from(image.data, "base64"), seen, signal).catch(() => {
      signal.throwIfAborted();
      return undefined;
    });
    const fitted: ImagePart = smaller === undefined ? image : { type: "image", ...smaller };
    kept.set(key, fitted);
    const [oldest] = kept.keys();
    if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
    return fitted;
  }

  const fitPart = async (part: TextPart | ImagePart, signal: AbortSignal) =>
    part.type === "image" ? fit(part, signal) : part;

  async function fitMessage(message: ModelMessage, signal: AbortSignal): Promise<ModelMessage> {
    if (message.role === "user")
      return { ...message, parts: await Promise.all(message.parts.map((part) => fitPart(part, signal))) };
    if (message.role !== "tool" || message.images === undefined) return message;
    return { ...message, images: await Promise.all(message.images.map((image) => fit(image, signal))) };
  }

  return async (request: ModelRequest, signal: AbortSignal): Promise<ModelRequest> => ({
    ...request,
    messages: await Promise.all(request.messages.map((message) => fitMessage(message, signal))),
  });
}
