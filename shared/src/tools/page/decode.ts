const marks = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
] as const;

/**
 * Decodes bytes of text: by byte order mark, else by the charset of the `Content-Type` header, else
 * by what the first bytes of HTML or XML declare, else as UTF-8 when valid, else as Windows-1252,
 * as browsers do.
 */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const named =
    markedEncoding(bytes) ?? /charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType)?.[1] ?? declaredCharset(bytes);
  const decoder = named === undefined ? undefined : decoderFor(named);
  if (decoder !== undefined) return decoder.decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** The encoding that a byte order mark at the start of a text names; undefined without one. */
export function markedEncoding(bytes: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" | undefined {
  return marks.find(([, start]) => start.every((byte, index) => bytes[index] === byte))?.[0];
}

const pattern = /<meta[^>]{0,200}?charset\s*=\s*["']?([\w.:-]+)|^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)/i;

function declaredCharset(bytes: Uint8Array): string | undefined {
  const found = pattern.exec(new TextDecoder("latin1").decode(bytes.subarray(0, 4096)));
  const name = (found?.[1] ?? found?.[2])?.toLowerCase();
  // A page whose declaration can be read byte by byte is not UTF-16, whatever it declares.
  return name?.startsWith("utf-16") === true ? "utf-8" : name;
}

function decoderFor(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label as Bun.Encoding);
  } catch {
    return undefined;
  }
}
