import type { Limits } from "../core/agent.ts";
import type { Sections } from "./sections.ts";

/** Bytes of a size such as `512m` or `2g` (of 1024, as containers count). */
export function bytesOf(size: string): number {
  const [, amount, unit] = /^([\d.]+)([kmg]?)b?$/i.exec(size) ?? [];
  const power = ["", "k", "m", "g"].indexOf(unit?.toLowerCase() ?? "");
  return Math.floor(Number(amount) * 1024 ** power);
}

/** The limits a table sets, in the units of the agent's own. */
export function limitsOf(table: Sections["limits"]): Partial<Limits> {
  const limits = {
    steps: table.steps,
    tokens: table.tokens,
    usd: table.usd,
    wallMs: table.wall_seconds === undefined ? undefined : table.wall_seconds * 1000,
    answerMs: table.answer_seconds === undefined ? undefined : table.answer_seconds * 1000,
    callsPerTurn: table.calls_per_turn,
    parallelCalls: table.parallel_calls,
    resultCharacters: table.result_characters,
  };
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}
