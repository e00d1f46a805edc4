import * as z from "zod";
import type { ToolCall } from "../../core/model.ts";
import { mended } from "../arguments.ts";
import type { Delta } from "./protocol.ts";

/**
 * The info string of the fenced blocks in which a model without function calling writes its calls.
 */
export const callFence = "```tool_call";

/**
 * A call between marks: the fence we ask for, and what models were trained to write. A fence can
 * close only at the beginning of a line, which no JSON string contains; the last one may be
 * missing.
 */
const marks = [
  String.raw`^[ \t]*\`\`\`(?<fence>tool_call|json)?[ \t]*\n(?<fenced>[\s\S]*?)(?:^[ \t]*\`\`\`|$(?![\s\S]))`,
  String.raw`<tool_call>(?<tagged>[\s\S]*?)(?:<\/tool_call>|$(?![\s\S]))`,
  String.raw`(?<named><function[=\s][\s\S]*?)(?:<\/function>|$(?![\s\S]))`,
  String.raw`(?:\[TOOL_CALLS\]|<\|python_tag\|>|<\|tool_call\|>)(?<rest>[\s\S]*?)(?:<\|[/a-z_]+\|>|$(?![\s\S]))`,
];
const blocks = new RegExp(marks.join("|"), "gm");

type Taken = { readonly text: string; readonly toolCalls: readonly ToolCall[] };

/**
 * Extracts the calls from the answer of a model that was asked to write them as text. A block of
 * the form we ask for that cannot be parsed becomes a call too, so that the model gets an error for
 * it; other blocks may be part of an answer, and are calls only if they name a tool.
 */
export function takeCalls(text: string, toolNames: readonly string[]): Taken {
  const whole = callsIn(text.trim());
  if (whole.length > 0 && allKnown(whole, toolNames)) return { text: "", toolCalls: whole };
  const toolCalls: ToolCall[] = [];
  const rest = text.replace(blocks, (block: string, ...more: unknown[]) => {
    const groups = more.at(-1) as Readonly<Record<string, string | undefined>>;
    const body = (groups.fenced ?? groups.tagged ?? groups.named ?? groups.rest ?? "").trim();
    const calls = callsIn(body);
    const isAsked = groups.fence === "tool_call" || groups.tagged !== undefined;
    if (!isAsked && (calls.length === 0 || !allKnown(calls, toolNames))) return block;
    toolCalls.push(...(calls.length > 0 ? calls : [{ id: "", name: nameIn(body), arguments: body }]));
    return "";
  });
  return { text: toolCalls.length === 0 ? text : rest.trim(), toolCalls };
}

/**
 * The calls of an answer that consists of nothing but calls of these tools; none of any other. A
 * model with function calling that writes them as text means them.
 */
export function onlyCalls(text: string, toolNames: readonly string[]): readonly ToolCall[] {
  const taken = takeCalls(text, toolNames);
  return taken.text === "" && allKnown(taken.toolCalls, toolNames) ? taken.toolCalls : [];
}

/** The name of the first of these tools that a text calls, whatever else it says. */
export function calledInText(text: string, toolNames: readonly string[]): string | undefined {
  return takeCalls(text, toolNames).toolCalls.find(({ name }) => toolNames.includes(name))?.name;
}

function allKnown(calls: readonly ToolCall[], toolNames: readonly string[]): boolean {
  return calls.every(({ name }) => toolNames.includes(name));
}

/** How an answer's text is read for calls, and what of it can be shown before its end. */
type Reading = {
  take(text: string): Taken;
  /** How much of the text so far is certainly not part of a call. */
  visible(text: string): number;
};

/**
 * Passes an answer's deltas on, but yields the calls in its text as calls, at the end, instead of
 * as text. With `native`, the model can call tools properly: only an answer that is nothing but
 * calls is read as such, and none is if it has proper calls too.
 */
export async function* hideCalls<Answer extends Taken>(
  deltas: AsyncGenerator<Delta, Answer>,
  toolNames: readonly string[],
  { native = false }: { readonly native?: boolean } = {},
): AsyncGenerator<Delta, Answer> {
  const { take, visible } = native ? wholly(toolNames) : inBlocks(toolNames);
  let seen = "";
  let told = 0;
  for (;;) {
    const next = await deltas.next();
    if (next.done === true) {
      const proper = next.value.toolCalls;
      // What was shown as an answer is one.
      if (native && told > 0) return next.value;
      const { text, toolCalls } = proper.length > 0 ? { text: seen, toolCalls: [] } : take(next.value.text);
      const rest =
        toolCalls.length === 0 ? seen.slice(told) : text.startsWith(seen.slice(0, told)) ? text.slice(told) : "";
      if (rest !== "") yield { type: "text-delta", text: rest };
      for (const [index, call] of toolCalls.entries()) {
        yield { type: "tool-call-delta", index, name: call.name, arguments: call.arguments };
      }
      return proper.length > 0 ? next.value : { ...next.value, text, toolCalls };
    }
    if (next.value.type !== "text-delta" || (native && told > 0)) {
      yield next.value;
    } else {
      seen += next.value.text;
      const safe = Math.max(told, visible(seen));
      if (safe > told) yield { type: "text-delta", text: seen.slice(told, safe) };
      told = safe;
    }
  }
}

/** Calls anywhere in the text; white space before a possible beginning is held back too. */
function inBlocks(toolNames: readonly string[]): Reading {
  return {
    take: (text) => takeCalls(text, toolNames),
    visible(text) {
      if (mayBeginCall(text)) return 0;
      const at = [callFence, "<tool_call>", "<function", "[TOOL_CALLS]", "<|"]
        .map((mark) => text.indexOf(mark))
        .filter((index) => index !== -1);
      if (at.length > 0) return text.slice(0, Math.min(...at)).trimEnd().length;
      return text.replace(/[`<[][^\n]{0,12}$/, "").trimEnd().length;
    },
  };
}

/** Text that is nothing but calls: shown as it arrives once it begins with something else. */
function wholly(toolNames: readonly string[]): Reading {
  return {
    take(text) {
      const toolCalls = onlyCalls(text, toolNames);
      return { text: toolCalls.length > 0 ? "" : text, toolCalls };
    },
    visible: (text) => (mayBeginCall(text) ? 0 : text.length),
  };
}

const beginning = /^(?:[[{]|```(?:tool_call|json)?[ \t]*(?:\n|$)|<(?:tool_call>|function[=\s]|\|[a-z]))/;
/** The longest mark that such a beginning may still grow into, as in a fence's `tool_call`. */
const undecided = 12;

/** Whether all of a text may turn out to be a call. */
function mayBeginCall(text: string): boolean {
  const start = text.trimStart();
  if (start === "" || beginning.test(start)) return true;
  return /^[`<]/.test(start) && start.length < undecided && !start.includes("\n");
}

const argumentsSchema = z.union([z.looseObject({}), z.string()]);

const callSchema = z.looseObject({
  name: z.string().min(1),
  arguments: argumentsSchema.optional(),
  parameters: argumentsSchema.optional(),
});

const wrappedSchema = z.looseObject({ function: callSchema });

/** The calls that a text without marks consists of: JSON, or a tag with the tool's name. */
function callsIn(body: string): readonly ToolCall[] {
  const tags = [...body.matchAll(functionTag)];
  if (tags.length > 0)
    return tags.map(([, name = "", inner = ""]) => ({ id: "", name, arguments: taggedArguments(inner) }));
  const value = lenientJson(body);
  const list = Array.isArray(value) ? value : value === undefined ? [] : [value];
  const calls = list.map(readCall);
  return calls.every((call) => call !== undefined) ? calls : [];
}

/** `<function=NAME>`, or with the name as an attribute. */
const functionTag = /<function(?:=|\s+name=)["']?([\w.-]+)["']?\s*>([\s\S]*?)(?:<\/function>|$(?![\s\S]))/g;
const parameterTag = /<parameter(?:=|\s+name=)["']?([\w.-]+)["']?\s*>\n?([\s\S]*?)\n?<\/parameter>/g;

/** Arguments as JSON, or each in a tag of its own, whose texts are read as JSON where they are. */
function taggedArguments(inner: string): string {
  const parameters = [...inner.matchAll(parameterTag)];
  if (parameters.length === 0) return inner.trim() || "{}";
  return JSON.stringify(Object.fromEntries(parameters.map(([, name = "", text = ""]) => [name, parameterOf(text)])));
}

/** What is not text in JSON (numbers, lists) is meant as such; quotes belong to the text. */
function parameterOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? text : value;
  } catch {
    return text;
  }
}

function readCall(value: unknown): ToolCall | undefined {
  const wrapped = wrappedSchema.safeParse(value);
  const parsed = callSchema.safeParse(wrapped.success ? wrapped.data.function : value);
  if (!parsed.success) return undefined;
  const { name, arguments: given, parameters } = parsed.data;
  const told = given ?? parameters ?? {};
  return { id: "", name, arguments: typeof told === "string" ? told : JSON.stringify(told) };
}

function lenientJson(body: string): unknown {
  if (!/^[[{]/.test(body)) return undefined;
  try {
    return JSON.parse(/[}\]]$/.test(body) ? mended(body) : body);
  } catch {
    return undefined;
  }
}

function nameIn(body: string): string {
  return /"name"\s*:\s*"([^"]+)"/.exec(body)?.[1] ?? "tool_call";
}
