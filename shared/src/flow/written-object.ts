import type { Json } from "../core/json.ts";
import { parseArguments } from "../models/arguments.ts";

/** The JSON object that a text holds, in a fence or between words; undefined where it holds none. */
export function writtenObject(text: string): Json | undefined {
  const written = /\{.*\}/s.exec(text)?.[0];
  const parsed = written === undefined ? undefined : parseArguments(written);
  return parsed?.ok ? (parsed.value as Json) : undefined;
}
