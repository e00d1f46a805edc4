import { jsonrepair } from "jsonrepair";
import { messageOf } from "../core/errors.ts";
import { isObject, type Json } from "../core/json.ts";

/**
 * The most characters whose mistakes are looked for one by one: the time for that grows with the
 * square of a text that is made for it.
 */
const longestMended = 8_000;

type JsonObject = { readonly [key: string]: Json };

/** Parsed arguments, or a sentence that tells the model what is wrong. */
export type ParsedArguments =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly error: string };

/**
 * Parses the arguments a model wrote for a tool call: as JSON, otherwise as JSON with common
 * mistakes (quotes, commas, code fences). Text that stops before its last brace is refused:
 * guessing the rest could write half a file.
 */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === "") return { ok: true, value: {} };
  const strict = attempt(() => JSON.parse(text));
  if (strict.ok) return asObject(unwrapped(strict.value));
  if (stopsEarly(text)) return refusal("are not valid JSON: the text ends before its last brace");
  const repaired = attempt(() => JSON.parse(mended(text)));
  return repaired.ok ? asObject(repaired.value) : refusal(`are not valid JSON: ${strict.error}`);
}

/**
 * A text with common mistakes in JSON as JSON. In a long one only line breaks and the like within
 * strings are mended, which is what long contents of files suffer from.
 */
export function mended(text: string): string {
  if (text.length <= longestMended) return jsonrepair(text);
  return text.replace(/\\.|"[^"\\]*(?:\\.[^"\\]*)*"/gs, (string) =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has them as escapes only.
    string.replace(/[\u0000-\u001f]/g, (character) => JSON.stringify(character).slice(1, -1)),
  );
}

/** Some models wrap the JSON object in a JSON string. */
function unwrapped(value: unknown): unknown {
  return typeof value === "string" && isCompleteObject(value) ? JSON.parse(value) : value;
}

/** Whether a text is a complete JSON object. */
export function isCompleteObject(text: string): boolean {
  const strict = attempt(() => JSON.parse(text));
  return strict.ok && isObject(strict.value);
}

/** Whether brackets or a string, in either kind of quotes, are still open at the end. */
function stopsEarly(text: string): boolean {
  let depth = 0;
  let quote: string | undefined;
  for (const [token] of text.matchAll(/\\.|["'{}[\]]/gs)) {
    if (quote !== undefined) {
      if (token === quote) quote = undefined;
    } else if (token === '"' || token === "'") quote = token;
    else if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
  }
  return depth > 0 || quote !== undefined;
}

function asObject(value: unknown): ParsedArguments {
  if (isObject(value)) return { ok: true, value: value as JsonObject };
  const found = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
  return refusal(`must be a JSON object, not ${found}`);
}

function refusal(what: string): ParsedArguments {
  const advice = "Call the tool again with one complete JSON object as its arguments.";
  return { ok: false, error: `The arguments ${what}. ${advice}` };
}

function attempt(read: () => unknown): { ok: true; value: unknown } | { ok: false; error: string } {
  try {
    return { ok: true, value: read() };
  } catch (error) {
    return { ok: false, error: messageOf(error) };
  }
}

/** The JSON object in a text, in a fence or between words; undefined if there is none. */
export function writtenObject(text: string): Json | undefined {
  const [start, end] = [text.indexOf("{"), text.lastIndexOf("}")];
  const parsed = start < 0 || end < start ? undefined : parseArguments(text.slice(start, end + 1));
  return parsed?.ok ? parsed.value : undefined;
}
