import { GIF } from "image-size/types/gif";
import { JPG } from "image-size/types/jpg";
import { PNG } from "image-size/types/png";
import { WEBP } from "image-size/types/webp";
import type { ImagePart, ImageRule, ModelMessage, ModelRequest, TextPart } from "../core/model.ts";

/** Width and height in pixels. */
export type Size = { readonly width: number; readonly height: number };

const openAiTiles = (base: number, each: number): ImageRule => ({
  kind: "tiles",
  tile: 512,
  base,
  each,
  square: 2048,
  shorter: 768,
});
const openAiPatches = (each: number): ImageRule => ({ kind: "patches", patch: 32, each, most: 1536 });

/**
 * The rule assumed for unknown providers: expensive, and never shrinking an image more than any
 * rule below.
 */
const unknownRule: ImageRule = { kind: "patches", patch: 28, each: 1, longest: 2048 };

/**
 * Rules by prefix of a model's name; the longest matching prefix wins. From the providers' guides,
 * which change: OpenAI: https://platform.openai.com/docs/guides/images-vision (calculating costs).
 * Anthropic: https://platform.claude.com/docs/en/build-with-claude/vision (patches of 28 pixels,
 * which is about width × height / 750). Google: https://ai.google.dev/gemini-api/docs/tokens (tiles
 * of 768 pixels, 258 tokens each, one for a small image).
 */
const rules: Readonly<Record<string, ImageRule>> = {
  "gpt-4": openAiTiles(85, 170),
  "gpt-4o-mini": openAiTiles(2833, 5667),
  "gpt-4.1-mini": openAiPatches(1.62),
  "gpt-4.1-nano": openAiPatches(2.46),
  "gpt-5": openAiTiles(70, 140),
  "gpt-5-mini": openAiPatches(1.62),
  "gpt-5-nano": openAiPatches(2.46),
  "gpt-5.4-mini": openAiPatches(1.62),
  o1: openAiTiles(75, 150),
  o3: openAiTiles(75, 150),
  "o4-mini": openAiPatches(1.72),
  claude: { kind: "patches", patch: 28, each: 1, most: 1568, longest: 1568 },
  "claude-opus-4-7": { kind: "patches", patch: 28, each: 1, most: 4784, longest: 2576 },
  gemini: { kind: "tiles", tile: 768, base: 0, each: 258, square: 3072 },
};

/** The rule of a model, by its name without the maker's. */
export function imageRuleOf(plainName: string): ImageRule {
  const family = Object.keys(rules)
    .filter((beginning) => plainName.startsWith(beginning))
    .sort((a, b) => b.length - a.length)[0];
  return (family === undefined ? undefined : rules[family]) ?? unknownRule;
}

/** The longest side of an image that a model is to look at only roughly. */
const roughly = 512;

/** The same rule for images that are shrunk first, because a model looks at them only roughly. */
export function roughRule(rule: ImageRule): ImageRule {
  if (rule.kind === "patches") return { ...rule, longest: Math.min(roughly, rule.longest ?? roughly) };
  return { ...rule, square: Math.min(roughly, rule.square) };
}

/** The size to which the provider scales an image of this size, never larger. */
export function seenSize(size: Size, rule: ImageRule): Size {
  if (rule.kind === "tiles") {
    const { width, height } = scaled(size, rule.square / Math.max(size.width, size.height));
    return rule.shorter === undefined
      ? { width, height }
      : scaled({ width, height }, rule.shorter / Math.min(width, height));
  }
  const { patch, most = Number.POSITIVE_INFINITY, longest = Number.POSITIVE_INFINITY } = rule;
  const within = scaled(size, longest / Math.max(size.width, size.height));
  // Patches cut at the edge count whole, so the image is shrunk until they fit.
  let seen = within;
  for (
    let scale = Math.sqrt((most * patch * patch) / (within.width * within.height));
    patchesIn(seen, patch) > most;
    scale *= 0.99
  )
    seen = scaled(within, scale);
  return seen;
}

/** The input tokens of an image of this size. */
export function imageTokens(size: Size, rule: ImageRule): number {
  const seen = seenSize(size, rule);
  if (rule.kind === "patches") return Math.ceil(patchesIn(seen, rule.patch) * rule.each);
  return rule.base + rule.each * patchesIn(seen, rule.tile);
}

function patchesIn({ width, height }: Size, patch: number): number {
  return Math.ceil(width / patch) * Math.ceil(height / patch);
}

function scaled({ width, height }: Size, scale: number): Size {
  if (scale >= 1) return { width, height };
  return { width: Math.max(1, Math.floor(width * scale)), height: Math.max(1, Math.floor(height * scale)) };
}

/**
 * Shrinks an image to fit these pixels. Rejects if the image cannot be decoded, or with the
 * signal's reason.
 */
export type ShrinkImage = (
  content: Uint8Array<ArrayBuffer>,
  size: { readonly width: number; readonly height: number },
  signal: AbortSignal,
) => Promise<Pick<ImagePart, "mediaType" | "data">>;

const readers = { "image/png": PNG, "image/jpeg": JPG, "image/gif": GIF, "image/webp": WEBP } as const;

/** How many characters of an image's base64 are searched for its size. */
const longestHead = 1_400_000;
/** From this EXIF orientation on, width and height are swapped. */
const liesOnItsSide = 5;

/**
 * The size in an image's header; undefined if the header has none or is invalid. Nothing is
 * decoded.
 */
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
    // The header is truncated or invalid.
    return undefined;
  }
}

const maxKept = 32;

/**
 * Ensures that no image is sent larger than its model's provider uses. An image that cannot be
 * shrunk is sent unchanged: the provider decides whether it is valid. Caches the newest, since a
 * conversation sends the same images in each turn.
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
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
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

  const fitted = new WeakMap<ModelMessage, ModelMessage>();
  return async (request: ModelRequest, signal: AbortSignal): Promise<ModelRequest> => {
    if (shrink === undefined || !request.messages.some(hasImages)) return request;
    const messages = [...request.messages];
    for (const [at, message] of messages.entries()) {
      if (!hasImages(message)) continue;
      const fitting = fitted.get(message) ?? (await fitMessage(message, signal));
      fitted.set(message, fitting);
      messages[at] = fitting;
    }
    return { ...request, messages };
  };
}

function hasImages(message: ModelMessage): boolean {
  if (message.role === "user") return message.parts.some(({ type }) => type === "image");
  return message.role === "tool" && message.images !== undefined;
}
