import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import { openFile } from "../../machine/workspace/workspace-file.ts";
import { showImage } from "./shown-image.ts";
import { imageTypeOf } from "./view-image.ts";

const maxBytes = 10 * 1024 ** 2;

const input = z.strictObject({ path: z.string().min(1) });

/**
 * The `see_image` tool: an image file of the workspace, re-encoded and small enough for a model.
 */
export const seeImage = defineTool({
  name: "see_image",
  description: "Shows you an image file. Only the newest turn's stay, for five turns: say what you see.",
  input,
  effect: "pure",
  brings: [],
  async run({ path }, { workspace, signal }) {
    await using file = await openFile(workspace, path);
    const { size } = file.stats;
    if (size > maxBytes) throw new AppError("too_large", `${path} has ${size} bytes; an image may have up to 10 MB.`);
    const content = Buffer.alloc(size);
    const { bytesRead } = await file.handle.read(content, 0, size, 0);
    const bytes = content.subarray(0, bytesRead);
    if (imageTypeOf(bytes) === undefined)
      throw new AppError("unsupported", `${path} is not a PNG, JPEG, GIF or WebP image, whatever its name says.`);
    const { format, width, height, shownWidth, shownHeight, mediaType, data } = await showImage(bytes, signal);
    const smaller = shownWidth * shownHeight < width * height ? `, shown at ${shownWidth} × ${shownHeight}` : "";
    return {
      text: `${path}: ${format}, ${width} × ${height} pixels${smaller}.`,
      isError: false,
      images: [{ type: "image", mediaType, data }],
    };
  },
});
