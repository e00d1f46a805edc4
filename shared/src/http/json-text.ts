import { AppError } from "../core/errors.ts";
import { deepestJson as deepest } from "../core/json.ts";

/** Why bytes are not acceptable JSON: `syntax` for invalid JSON, `depth` for nesting beyond 100. */
export class JsonTextError extends Error {
  override readonly name = "JsonTextError";
  readonly fault: "syntax" | "depth";

  constructor(fault: "syntax" | "depth", message: string) {
    super(message);
    this.fault = fault;
  }
}

/**
 * The JSON value of UTF-8 bytes. Throws JsonTextError. Depth is checked before parsing, because too
 * deep a value breaks recursive code later.
 */
export function parseJsonBytes(bytes: Uint8Array): unknown {
  const text = jsonText(bytes);
  try {
    return JSON.parse(text);
  } catch {
    throw new JsonTextError("syntax", "The body is not valid JSON");
  }
}

/** The same, for a request of ours: throws `invalid_input` with what is wrong. */
export function requireJsonBytes(bytes: Uint8Array): unknown {
  try {
    return parseJsonBytes(bytes);
  } catch (error) {
    if (error instanceof JsonTextError) throw new AppError("invalid_input", `${error.message}.`);
    throw error;
  }
}

/**
 * The field of a JSON object as it was written; undefined if the value is not an object with this
 * field or the field is not a number. Numbers beyond 2^53 keep all their digits.
 */
export function numberText(bytes: Uint8Array, name: string): string | undefined {
  const written = new WeakMap<object, string>();
  const root: unknown = JSON.parse(jsonText(bytes), function note(this: object, key, value, context?: Written) {
    if (key === name && typeof value === "number" && context !== undefined) written.set(this, context.source);
    return value;
  });
  return typeof root === "object" && root !== null ? written.get(root) : undefined;
}

type Written = { readonly source: string };

function jsonText(bytes: Uint8Array): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new JsonTextError("syntax", "The body is not valid UTF-8");
  }
  if (isDeeperThan(text, deepest)) throw new JsonTextError("depth", `The JSON is nested deeper than ${deepest} levels`);
  return text;
}

function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === backslash) i++;
      else if (code === quote) inString = false;
    } else if (code === quote) inString = true;
    else if (code === openBrace || code === openBracket) {
      if (++depth > limit) return true;
    } else if (code === closeBrace || code === closeBracket) depth--;
  }
  return false;
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];
