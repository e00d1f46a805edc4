import { jsonrepair } from "jsonrepair";
import * as z from "zod";
import type { ModelEvent, ModelMessage, ModelRequest, ToolCall, ToolSpec } from "../../core/model.ts";
import type { ModelAnswer } from "./answer.ts";
import { resultText } from "./wire.ts";

/**
 * The info string of the fenced blocks in which a model without function calling writes its calls.
 */
const callFence = "```tool_call";

/**
 * The same request for a model without function calling: the system prompt describes the tools,
 * calls are fenced JSON blocks in the assistant's text, and results are user text. A request that
 * never had tools is unchanged.
 */
export function asPromptRequest(request: ModelRequest): ModelRequest {
  const messages = request.messages.reduce<readonly ModelMessage[]>(appendAsText, []);
  const described = request.toolChoice === "none" ? [] : request.tools;
  if (described.length === 0) return { ...request, messages, tools: [] };
  const instructions = describe(described, request.toolChoice);
  return { ...request, messages: withSystemText(messages, instructions), tools: [] };
}

/**
 * Merges the results of one turn into one message: many chat templates want user and assistant to
 * alternate.
 */
function appendAsText(messages: readonly ModelMessage[], message: ModelMessage): readonly ModelMessage[] {
  if (message.role === "assistant" && message.toolCalls.length > 0) {
    const text = [message.text, ...message.toolCalls.map(callBlock)].filter((part) => part !== "").join("\n\n");
    return [...messages, { role: "assistant", text, toolCalls: [] }];
  }
  if (message.role !== "tool") return [...messages, message];
  const text = `Result of ${message.name} (${message.callId}):\n${resultText(message)}`;
  const parts = [{ type: "text", text } as const, ...(message.images ?? [])];
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, { role: "user", parts }];
  return [...messages.slice(0, -1), { role: "user", parts: [...last.parts, ...parts] }];
}

function callBlock(call: ToolCall): string {
  return `${callFence}\n{"name": ${JSON.stringify(call.name)}, "arguments": ${call.arguments || "{}"}}\n\`\`\``;
}

function withSystemText(messages: readonly ModelMessage[], text: string): readonly ModelMessage[] {
  const [first, ...rest] = messages;
  if (first?.role !== "system") return [{ role: "system", text }, ...messages];
  return [{ role: "system", text: `${first.text}\n\n${text}` }, ...rest];
}

function describe(tools: readonly ToolSpec[], choice: ModelRequest["toolChoice"]): string {
  const lines = [
    "You can call tools. To call one, write a block exactly like this, with one JSON object in it:",
    `${callFence}\n{"name": "tool_name", "arguments": {"parameter": "value"}}\n\`\`\``,
    "Write one block for each call, then stop: the results come in the next message. Never write a result yourself.",
    ...(choice === "auto" ? ["Without a block, your text is your final answer."] : []),
    ...(choice === "required" ? ["This time you must call at least one tool."] : []),
    ...(typeof choice === "object" ? [`This time you must call the tool ${choice.name}.`] : []),
    "The tools:",
    ...tools.map(
      (tool) => `## ${tool.name}\n${tool.description}\nArguments, as JSON Schema: ${JSON.stringify(tool.inputSchema)}`,
    ),
  ];
  return lines.join("\n\n");
}

type Delta = Exclude<ModelEvent, { readonly type: "retry" | "reply" }>;

/**
 * A fence can close only at the beginning of a line, which no JSON string contains; the last one
 * may be missing.
 */
const blocks =
  /^[ \t]*```(tool_call|json)[ \t]*\n([\s\S]*?)(?:^[ \t]*```|$(?![\s\S]))|<tool_call>([\s\S]*?)(?:<\/tool_call>|$(?![\s\S]))/gm;

const callSchema = z.looseObject({
  name: z.string().min(1),
  arguments: z.looseObject({}).optional(),
  parameters: z.looseObject({}).optional(),
});

/**
 * Extracts the calls from an answer's text. A block that cannot be parsed becomes a call too, so
 * that the model gets an error for it.
 */
export function takeCalls(
  text: string,
  toolNames: readonly string[],
): { text: string; toolCalls: readonly ToolCall[] } {
  const toolCalls: ToolCall[] = [];
  const rest = text.replace(blocks, (block: string, fence: string | undefined, fenced?: string, tagged?: string) => {
    const body = (fenced ?? tagged ?? "").trim();
    const call = readCall(body);
    // Any JSON block may be part of an answer; it is a call only if it names a tool.
    if (fence === "json" && (call === undefined || !toolNames.includes(call.name))) return block;
    toolCalls.push(call ?? { id: "", name: nameIn(body), arguments: body });
    return "";
  });
  return { text: toolCalls.length === 0 ? text : rest.trim(), toolCalls };
}

/**
 * Passes an answer's deltas on, but yields the calls in its text as calls, at the end, instead of
 * as text.
 */
export async function* hideCalls(
  deltas: AsyncGenerator<Delta, ModelAnswer>,
  toolNames: readonly string[],
): AsyncGenerator<Delta, ModelAnswer> {
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

/**
 * The length up to the first call, or to a possible beginning of one; white space before it is held
 * back too.
 */
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
