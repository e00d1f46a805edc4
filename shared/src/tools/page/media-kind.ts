/** The kind of a response, which decides how to read it. */
export type MediaKind = "html" | "text" | "pdf" | "image" | "binary";

/**
 * Decided by its first bytes when they are unmistakable or the header says nothing useful, else by
 * the `Content-Type` header.
 */
export function mediaKind(bytes: Uint8Array, contentType: string): MediaKind {
  const type = contentType.split(";")[0]?.trim().toLowerCase() ?? "";
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, 1024)).trimStart();
  if (start.startsWith("%PDF-")) return "pdf";
  if (type === "text/html" || type === "application/xhtml+xml") return "html";
  if (type.startsWith("image/") && type !== "image/svg+xml") return "image";
  if (
    type.startsWith("text/") ||
    /^application\/(?:.*[+/])?(?:json|xml|javascript|x-ndjson|yaml|toml|x-sh|sql)$/.test(type)
  )
    return "text";
  if (type === "image/svg+xml") return "text";
  if (type !== "" && type !== "application/octet-stream") return "binary";
  if (/^(?:<!--[\s\S]*?-->\s*)?<(?:!doctype html|html|head|body)\b/i.test(start)) return "html";
  return bytes.subarray(0, 8192).includes(0) ? "binary" : "text";
}
