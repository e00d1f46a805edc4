import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import { sanitize, sanitizeLine } from "../../core/text/sanitize.ts";

const field = z.looseObject({
  type: z.string().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  enum: z.array(z.union([z.string(), z.number()])).optional(),
  oneOf: z.array(z.looseObject({ const: z.string() })).optional(),
});
const form = z.looseObject({
  properties: z.record(z.string(), field).default({}),
  required: z.array(z.string()).default([]),
});

type Fields = z.output<typeof form>;

/** More than a person answers, and few enough to be looked for in what they say. */
const mostFields = 50;

const secret = /pass|secret|token|api.?key|credential|\bpin\b|cvv|cvc|card.?number|iban|ssn|otp|one.?time/i;

/**
 * A server's question, worded for the person. It starts with the server's name in our words, and
 * quotes whatever the server says. A field that looks like a secret is pointed out. Throws
 * `unavailable` if it asks for more than a person answers.
 */
export function questionOf(server: string, params: ElicitRequest["params"]): string {
  const message = sanitize(params.message).slice(0, 4_000);
  const head = `The MCP server "${server}" asks (these are its words, not mine):\n\n${quoted(message)}`;
  if (params.mode === "url")
    return `${head}\n\nIt wants you to open this address and do something there:\n${sanitizeLine(params.url, 2_000)}\n\nLook whether you know and trust it. Answer "done" when you have done so, or "decline".`;
  const { properties, required } = form.parse(params.requestedSchema);
  const names = Object.keys(properties);
  if (names.length > mostFields)
    throw new AppError(
      "unavailable",
      `it asks for ${names.length} values at once; a person is asked for ${mostFields}`,
    );
  if (names.length === 0) return `${head}\n\nAnswer "accept" or "decline".`;
  const lines = names.map((name) => `- ${fieldLine(name, properties[name] ?? {}, required.includes(name))}`);
  const warned = Object.entries(properties).some(([name, one]) =>
    secret.test(`${name} ${one.title} ${one.description}`),
  );
  const warning = warned
    ? `\n\nTake care: "${server}" asks for what looks like a secret. It will be sent to that server and stays in this conversation.`
    : "";
  const how = names.length === 1 ? "Answer with the value" : 'Answer with a line "name: value" for each';
  return `${head}\n\nIt wants to know:\n${lines.join("\n")}${warning}\n\n${how}, or "decline".`;
}

/**
 * Converts the person's text to the server's result, or explains why it cannot be sent. No text
 * cancels.
 */
export function answerOf(
  text: string | undefined,
  params: ElicitRequest["params"],
): { readonly result: ElicitResult } | { readonly problem: string } {
  const said = text?.trim();
  if (said === undefined) return { result: { action: "cancel" } };
  if (/^(?:decline|refuse|cancel)[.!]?$/i.test(said)) return { result: { action: "decline" } };
  if (params.mode === "url")
    return { result: /^(?:done|ok|yes|accept)[.!]?$/i.test(said) ? { action: "accept" } : { action: "decline" } };
  const fields = form.parse(params.requestedSchema);
  const names = Object.keys(fields.properties);
  if (names.length === 0)
    return {
      result: /^(?:accept|ok|yes)[.!]?$/i.test(said) ? { action: "accept", content: {} } : { action: "decline" },
    };
  const given = valuesIn(said, names);
  const content: NonNullable<ElicitResult["content"]> = {};
  for (const [name, one] of Object.entries(fields.properties)) {
    const raw = given[name] ?? one.default;
    if (raw === undefined && !fields.required.includes(name)) continue;
    if (raw === undefined) return { problem: `There was no value for ${name}.` };
    const value = asValue(raw, one);
    if (value === undefined) return { problem: `${name} cannot be ${JSON.stringify(raw)}.` };
    content[name] = value;
  }
  return { result: { action: "accept", content } };
}

function quoted(text: string): string {
  return text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

function fieldLine(
  name: string,
  { type, title, description, minimum, maximum, enum: values, oneOf, default: otherwise }: Fields["properties"][string],
  required: boolean,
): string {
  const choices = values ?? oneOf?.map((one) => one.const);
  const bounds = (minimum === undefined ? "" : ` from ${minimum}`) + (maximum === undefined ? "" : ` to ${maximum}`);
  const kind = choices === undefined ? (type ?? "text") + bounds : `one of ${choices.join(", ")}`;
  const about = [title, description].filter((part) => part !== undefined).join(": ");
  const left = otherwise === undefined ? (required ? "" : ", may be left out") : `, ${String(otherwise)} when left out`;
  return sanitizeLine(`${name} (${kind}${left})${about === "" ? "" : `: ${about}`}`, 500);
}

/** The longest text whose lines are searched for several pairs. */
const longestApart = 20_000;

/**
 * The values in a person's text: a JSON object, lines of `name: value`, or, if one value is asked
 * for, the whole text.
 */
function valuesIn(said: string, names: readonly string[]): Readonly<Record<string, unknown>> {
  try {
    const json = z.record(z.string(), z.unknown()).safeParse(JSON.parse(said));
    if (json.success) return json.data;
  } catch {
    // Plain text, as people write it.
  }
  const known = new Map(names.toReversed().map((name) => [name.toLowerCase(), name]));
  const lines = (said.length > longestApart ? said.split("\n") : apart(said, names)).flatMap((line) => {
    const at = line.search(/[:=]/);
    const name = known.get(
      line
        .slice(0, at)
        .trim()
        .replace(/^[-*]\s*/, "")
        .toLowerCase(),
    );
    return at === -1 || name === undefined ? [] : [[name, line.slice(at + 1).trim()] as const];
  });
  const [only] = names;
  if (lines.length === 0 && names.length === 1 && only !== undefined) return { [only]: said };
  return Object.fromEntries(lines);
}

/**
 * Splits the text into lines, including pairs on one line separated by commas or semicolons: the
 * text after such a separator is a new line if it starts with a name.
 */
function apart(said: string, names: readonly string[]): readonly string[] {
  const begins = (piece: string) =>
    names.some((name) => new RegExp(`^\\s*${RegExp.escape(name)}\\s*[:=]`, "i").test(piece));
  return said.split("\n").flatMap((line) =>
    line.split(/(?<=[,;])/).reduce<string[]>((pieces, piece) => {
      const last = pieces.at(-1);
      if (last === undefined) return [piece];
      if (!begins(piece)) return [...pieces.slice(0, -1), last + piece];
      return [...pieces.slice(0, -1), last.slice(0, -1), piece];
    }, []),
  );
}

type Value = NonNullable<ElicitResult["content"]>[string];

function asValue(
  raw: unknown,
  { type, minimum, maximum, enum: values, oneOf }: Fields["properties"][string],
): Value | undefined {
  const text = String(raw).trim();
  const choices = values?.map(String) ?? oneOf?.map((one) => one.const);
  if (choices !== undefined) return choices.find((one) => one.toLowerCase() === text.toLowerCase());
  if (type === "boolean") {
    if (/^(?:y|yes|true|1)$/i.test(text)) return true;
    return /^(?:n|no|false|0)$/i.test(text) ? false : undefined;
  }
  if (type === "number" || type === "integer") {
    const number = Number(text);
    const isWithin = number >= (minimum ?? number) && number <= (maximum ?? number);
    const fits = text !== "" && Number.isFinite(number) && (type === "number" || Number.isInteger(number)) && isWithin;
    return fits ? number : undefined;
  }
  if (type === "array") return Array.isArray(raw) ? raw.map(String) : text.split(",").map((one) => one.trim());
  return text;
}
