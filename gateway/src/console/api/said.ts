import { words } from "../words/words.ts";

/** The largest request, with room for what base64 adds. */
const maxBytes = 7_000_000;

/** A caller's message as the API takes it. */
export type Said = {
  readonly text?: string;
  readonly files?: readonly { readonly name: string; readonly mediaType?: string; readonly bytes: string }[];
};

/**
 * A message of a text and files, with the content of the files in base64. Rejects with an Error
 * when they are too large for one request.
 */
export async function saidOf(text: string, files: readonly File[]): Promise<Said> {
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (size > maxBytes) throw new Error(words().filesTooLarge);
  const given = await Promise.all(
    files.map(async (file) => ({
      name: file.name,
      ...(file.type !== "" && { mediaType: file.type }),
      bytes: await base64(file),
    })),
  );
  return { ...(text.trim() !== "" && { text }), ...(given.length > 0 && { files: given }) };
}

async function base64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 32_768) text += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return btoa(text);
}
