import { AppError } from "../../core/errors.ts";

const byteOrderMark = "\ufeff";

/** Whether bytes contain a NUL, which text never does. UTF-16 counts as binary too. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.includes(0);
}

/**
 * The text of a file to edit, including its byte order mark if it has one, so that encoding it
 * again gives the same bytes. Throws `unsupported` for content where it would not: binary content
 * and invalid UTF-8. `path` is for the error's text.
 */
export function decodeExactly(bytes: Uint8Array, path: string): string {
  if (isBinary(bytes)) throw binaryError(path);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    const message = `The file ${path} is not valid UTF-8, so it cannot be edited here without damage. Convert it first.`;
    throw new AppError("unsupported", message, { cause });
  }
}

/** The text without its byte order mark, and the mark. */
export function splitMark(text: string): { readonly mark: string; readonly body: string } {
  return text.startsWith(byteOrderMark) ? { mark: byteOrderMark, body: text.slice(1) } : { mark: "", body: text };
}

/** The error for content that is not text. */
export function binaryError(path: string): AppError {
  return new AppError(
    "unsupported",
    `The file ${path} is binary, so it can neither be shown nor edited as text. If it is a document, read_document reads it; unpack opens an archive.`,
  );
}
