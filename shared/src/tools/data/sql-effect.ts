import type { Effect } from "../../core/run.ts";

const reading = /^\s*(?:select|with|from|describe|summarize|show|explain|values|pivot|unpivot|table)\b/i;
const changing =
  /\b(?:copy|create|insert|update|delete|drop|alter|attach|detach|export|import|merge|truncate|call|set|use|load|install|checkpoint|vacuum|nextval|pragma)\b|;\s*\S/i;

/** What a repetition of a statement would do. A word that could change something makes it `once`, also within a text. */
export function sqlEffect(sql: string): Effect {
  return reading.test(sql) && !changing.test(sql) ? "pure" : "once";
}
