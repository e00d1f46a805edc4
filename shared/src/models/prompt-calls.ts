import { jsonrepair } from "jsonrepair";
import * as z from "zod";
import type { ModelEvent, ToolCall } from "../core/model.ts";
import type { Answer } from "./answer.ts";
import { callFence } from "./prompt-tools.ts";

type Delta = Exclude<ModelEvent, { readonly type: "retry" | "reply" }>;

/** A fence can only close at the beginning of a line, which no JSON string contains; the last one may be missing. */
const blocks =
  /^[ \t]*```(tool_call|json)[ \t]*\n([\s\S]*?)(?:^[ \t]*```|$(?![\s\S]))|<tool_call>([\s\S]*?)(?:<\/tool_call>|$(?![\s\S]))/gm;

const callSchema = z.looseObject({
  name: z.string().min(1),
  arguments: z.looseObject({}).optional(),
  parameters: z.looseObject({}).optional(),
});

/** Takes the calls out of an answer's text. A block that cannot be read becomes a call too, so that the model is told of its slip. */
export function takeCalls(
  text: string,
  toolNames: readonly string[],
): { text: string; toolCalls: readonly ToolCall[] } {
  const toolCalls: ToolCall[] = [];
  const rest = text.replace(blocks, (block: string, fence: string | undefined, fenced?: string, tagged?: string) => {
    const body = (fenced ?? tagged ?? "").trim();
    const call = readCall(body);
    // Any JSON block may be part of an answer; only one that names a tool is a call.
    if (fence === "json" && (call === undefined || !toolNames.includes(call.name))) return block;
    toolCalls.push(call ?? { id: "", name: nameIn(body), arguments: body });
    return "";
  });
  return { text: toolCalls.length === 0 ? text : rest.trim(), toolCalls };
}

/** Passes an answer's deltas on, but tells the calls in its text as calls, at the end, instead of as text. */
export async function* hideCalls(
  deltas: AsyncGenerator<Delta, Answer>,
  toolNames: readonly string[],
): AsyncGenerator<Delta, Answer> {
  let seen = "";
  let told = 0;
  for (;;) {
    const next = await deltas.next();
    if (next.done === true) {
      const { text, toolCalls } = takeCalls(next.value.text, toolNames);
      const rest =
        toolCalls.length === 0 ? seen.slice(told) : text.startsWith(seen.slice(0, told)) ? text.slice(told) : "";
      if (rest !== "") yield { type: "text-delta", text: rest };
      for (const [index, call] of toolCalls.entries()) {
        yield { type: "tool-call-delta", index, name: call.name, arguments: call.arguments };
      }
      return { ...next.value, text, toolCalls };
    }
    if (next.value.type !== "text-delta") yield next.value;
    else {
      seen += next.value.text;
      const safe = Math.max(told, visibleLength(seen));
      if (safe > told) yield { type: "text-delta", text: seen.slice(told, safe) };
      told = safe;
    }
  }
}

/** Up to the first call, or to what may be the beginning of one; white space before it waits too. */
function visibleLength(text: string): number {
  const at = [callFence, "<tool_call>"].map((mark) => text.indexOf(mark)).filter((index) => index !== -1);
  if (at.length > 0) return text.slice(0, Math.min(...at)).trimEnd().length;
  return text.replace(/[`<][^\n]{0,12}$/, "").trimEnd().length;
}

function readCall(body: string): ToolCall | undefined {
  const parsed = callSchema.safeParse(lenientJson(body));
  if (!parsed.success) return undefined;
  const { name, arguments: given, parameters } = parsed.data;
  return { id: "", name, arguments: JSON.stringify(given ?? parameters ?? {}) };
}

function lenientJson(body: string): unknown {
  try {
    return JSON.parse(body.endsWith("}") ? jsonrepair(body) : body);
  } catch {
    return undefined;
  }
}

function nameIn(body: string): string {
  return /"name"\s*:\s*"([^"]+)"/.exec(body)?.[1] ?? "tool_call";
}
