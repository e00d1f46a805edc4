import type { Json, Part } from "manyhands";
import { RE2JS } from "re2js";
import * as z from "zod";

/**
 * When a task belongs to a branch, decided without a model: every condition of the rule must hold.
 */
export const rule = z
  .strictObject({
    keywords: z
      .array(z.string().trim().min(1))
      .min(1)
      .optional()
      .describe("One of these words or phrases is in the task, in capitals or not."),
    regex: z
      .string()
      .min(1)
      .max(1_000)
      .refine(isRegex, "is not a regular expression of RE2, which has no look-around and no back references")
      .optional()
      .describe("The task fits this regular expression (RE2), in capitals or not."),
    file: z
      .string()
      .trim()
      .min(1)
      .optional()
      .describe("A file came with the task whose name or media type fits: `*.csv`, `image/*`."),
    data: z
      .strictObject({
        path: z
          .string()
          .refine(isDataPath, "is not a path like $.order.items[0].kind")
          .describe("`$.order.items[0].kind`."),
        equals: z.json().optional(),
        above: z.number().optional(),
        below: z.number().optional(),
      })
      .optional()
      .describe("Data came with the task that has something at this path: this value, or a number above or below."),
  })
  .refine((given) => Object.keys(given).length > 0, "names nothing that could hold");

/** A rule as a caller gives it. */
export type Rule = z.output<typeof rule>;

/** What rules examine: the task and its files. */
type RuleFacts = { readonly goal: string; readonly files: readonly Part[] };

/** How many characters of the task rules examine. */
const maxText = 100_000;

/** Why a rule holds, in a sentence; undefined if it does not. */
export function ruleReason({ keywords, regex, file, data }: Rule, facts: RuleFacts): string | undefined {
  const reasons: (string | undefined)[] = [];
  const text = facts.goal.slice(0, maxText);
  if (keywords !== undefined) reasons.push(keywordReason(keywords, text));
  if (regex !== undefined) reasons.push(compile(regex).matcher(text).find() ? `The task fits ${regex}.` : undefined);
  if (file !== undefined) reasons.push(fileReason(file, facts.files));
  if (data !== undefined) reasons.push(dataReason(data, facts.files));
  return reasons.includes(undefined) ? undefined : reasons.join(" ");
}

function keywordReason(keywords: readonly string[], text: string): string | undefined {
  const found = keywords.find((keyword) => {
    const literal = keyword.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    return new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, "iu").test(text);
  });
  return found === undefined ? undefined : `The task says "${found}".`;
}

function fileReason(pattern: string, files: readonly Part[]): string | undefined {
  const glob = new Bun.Glob(pattern.toLowerCase());
  for (const part of files) {
    if (part.type !== "file" && part.type !== "url") continue;
    const { mediaType = "", name = part.type === "url" ? part.url.replace(/^.*\//, "") : "" } = part;
    if (glob.match(name.toLowerCase())) return `${name} fits ${pattern}.`;
    if (glob.match(mediaType.toLowerCase())) return `${name} is ${mediaType}.`;
  }
  return undefined;
}

function dataReason(
  { path, equals, above, below }: NonNullable<Rule["data"]>,
  files: readonly Part[],
): string | undefined {
  for (const part of files) {
    const value = part.type === "data" ? valueAt(part.data, path) : undefined;
    if (value === undefined) continue;
    if (equals !== undefined && !Bun.deepEquals(value, equals)) continue;
    if (above !== undefined && !(typeof value === "number" && value > above)) continue;
    if (below !== undefined && !(typeof value === "number" && value < below)) continue;
    return `${path} is ${JSON.stringify(value).slice(0, 100)}.`;
  }
  return undefined;
}

function compile(regex: string): RE2JS {
  return RE2JS.compile(regex, RE2JS.CASE_INSENSITIVE);
}

function isRegex(text: string): boolean {
  try {
    compile(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The steps of a path like `$.order.items[0].kind` or `order.items.0.kind`; undefined if invalid.
 */
function stepsOf(path: string): readonly string[] | undefined {
  const plain = path
    .trim()
    .replace(/^\$\.?/, "")
    .replaceAll(/\[(\d+)\]/g, ".$1")
    .replace(/^\./, "");
  const steps = plain === "" ? [] : plain.split(".");
  return steps.every((step) => /^[^[\]\s]+$/.test(step)) ? steps : undefined;
}

/** Whether a path can be read. */
function isDataPath(path: string): boolean {
  return stepsOf(path) !== undefined;
}

/** The value at a path, or undefined. Finds only own properties of the data. */
export function valueAt(data: Json, path: string): Json | undefined {
  let value: Json | undefined = data;
  for (const step of stepsOf(path) ?? []) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as { readonly [key: string]: Json | undefined })[step];
  }
  return value;
}
