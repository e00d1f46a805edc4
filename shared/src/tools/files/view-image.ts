import type { FileHandle } from "node:fs/promises";
import { AppError } from "../../core/errors.ts";
import type { ToolResult } from "../../core/tools/tool.ts";

const maxImageBytes = 5 * 1024 ** 2;

const signatures: readonly (readonly [mediaType: string, pattern: RegExp])[] = [
  ["image/png", /^\x89PNG\r\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF.{4}WEBP/s],
];

/**
 * The media type of an image that models can see, by the first bytes of its content; its name does
 * not matter.
 */
export function imageTypeOf(start: Uint8Array): string | undefined {
  const text = Buffer.from(start.subarray(0, 16)).toString("latin1");
  return signatures.find(([, pattern]) => pattern.test(text))?.[0];
}

/** The image as a part that the model sees; throws `too_large` above 5 MB. */
export async function viewImage(
  handle: FileHandle,
  { path, size, mediaType }: { path: string; size: number; mediaType: string },
): Promise<ToolResult> {
  if (size > maxImageBytes)
    throw new AppError("too_large", `The image ${path} has ${size} bytes; no more than ${maxImageBytes} can be shown.`);
  const content = Buffer.alloc(size);
  const { bytesRead } = await handle.read(content, 0, size, 0);
  const data = content.subarray(0, bytesRead).toString("base64");
  return {
    text: `Here's the image ${path} (${mediaType}, ${size} bytes).`,
    isError: false,
    images: [{ type: "image", mediaType, data }],
  };
}
