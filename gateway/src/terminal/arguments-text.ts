import { objectOf } from "manyhands/internal/core/json";
import { safeLine } from "./safe-text.ts";

/**
 * A tool call's arguments in short: a single value alone, several as `key=value` pairs, long ones
 * cut.
 */
export function argumentsText(json: string, columns: number): string {
  const parsed = objectOf(json);
  if (parsed === undefined) return safeLine(json, columns);
  const entries = Object.entries(parsed);
  const [only] = entries;
  if (entries.length === 1 && only !== undefined) return safeLine(valueText(only[1]), columns);
  const each = Math.max(12, Math.floor(columns / Math.max(1, entries.length)));
  return safeLine(entries.map(([key, value]) => `${key}=${safeLine(valueText(value), each)}`).join(" "), columns);
}

/**
 * Shows a line of an earlier version as `argumentsText` would: a tool's name and its arguments,
 * which may be cut; shows any other line unchanged.
 */
export function callText(line: string, columns: number): string {
  const [, name = "", json = ""] = /^(\w+) (\{.*)$/s.exec(line) ?? [];
  if (name === "") return safeLine(line, columns);
  const values = [...json.matchAll(/"\w+":(?:"((?:[^"\\]|\\.)*)|([^",{[]+))/g)].map(
    ([, text, value = ""]) => text?.replaceAll(/\\(.)/g, (_, mark) => (mark === "n" ? " " : mark)) ?? value,
  );
  const isWhole = objectOf(json) !== undefined;
  const shown = isWhole ? argumentsText(json, columns - name.length - 1) : values.join(" ");
  return safeLine(`${name} ${shown}`, columns);
}

function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
