import PostalMime from "postal-mime";
import { AppError } from "../../../core/errors.ts";
import { replyOf } from "../../../machine/process/own-script-reply.ts";
import type { AttachedFile } from "./read-mail-files.ts";

/**
 * Started by `readMailFiles`: finds what is attached to the mail on its standard input, and ends.
 */

await replyOf(async (): Promise<readonly AttachedFile[]> => {
  const bytes = await Bun.stdin.bytes();
  const { attachments } = await PostalMime.parse(bytes, { maxNestingDepth: 64 }).catch((error: unknown) => {
    throw new AppError("unsupported", `It is damaged: ${error instanceof Error ? error.message : error}`);
  });
  return attachments.map(({ filename, content }) => ({
    filename: filename ?? "",
    content: (typeof content === "string" ? Buffer.from(content) : Buffer.from(new Uint8Array(content))).toString(
      "base64",
    ),
  }));
});
