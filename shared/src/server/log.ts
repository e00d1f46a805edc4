import { hostname } from "node:os";
import type { Log } from "../core/engine.ts";
import { escapeUnseen } from "../core/sanitize.ts";

/** Where a server reports what happens to it. */
export interface ServerLog extends Log {
  info(fields: object, message: string): void;
}

/** The numbers that pino gave them, which programs that read logs know. */
const levels = { info: 30, warn: 40, error: 50 } as const;
const origin = { pid: process.pid, hostname: hostname() };
const secrets: ReadonlySet<string> = new Set(["apiKey", "token", "authorization"]);

/**
 * A log with one JSON object per line: text from outside cannot start a line or control a terminal,
 * and keys and tokens are left out.
 */
export function openLog(name: string, write: (line: string) => void): ServerLog {
  const at = (level: keyof typeof levels) => (fields: object, message: string) => {
    const line = { level: levels[level], time: Date.now(), ...origin, name, ...fields, msg: message };
    write(`${escapeUnseen(jsonLine(line))}\n`);
  };
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

function jsonLine(line: { readonly level: number; readonly time: number; readonly msg: string }): string {
  try {
    return JSON.stringify(line, shown);
  } catch (error) {
    // A value that contains itself: the rest is worth a line.
    const { level, time, msg } = line;
    return JSON.stringify({ level, time, ...origin, msg, unwritten: String(error) });
  }
}

function shown(key: string, value: unknown): unknown {
  if (secrets.has(key)) return "[Redacted]";
  if (typeof value === "bigint") return String(value);
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { ...value, type: name, message, stack, ...(cause !== undefined && { cause }) };
}
