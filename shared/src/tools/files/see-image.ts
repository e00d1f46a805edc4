import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import { openFile } from "../../machine/workspace/workspace-file.ts";
import { showImage } from "./shown-image.ts";
import { imageTypeOf } from "./view-image.ts";

const maxBytes = 10 * 1024 ** 2;

const unseen =
  "No picture is shown to you: the model in use takes text only. Where there is read_document, it tells the size of a picture and the text in it; what a chart shows is in the data it was drawn from.";

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
  needsSight: true,
  async run({ path }, { workspace, signal, vision }) {
    if (vision === false) throw new AppError("unsupported", unseen);
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
