import type { ModelMessage, ModelRequest, ToolCall, ToolSpec } from "../core/model.ts";
import { resultText } from "./wire.ts";

/** The info string of the fenced blocks in which a model without function calling writes its calls. */
export const callFence = "```tool_call";

/**
 * The same request for a model without function calling: the tools are described in the system prompt, calls are fenced JSON blocks
 * in the assistant's text, results are text of the user. A request that never had tools is left as it is.
 */
export function asPromptRequest(request: ModelRequest): ModelRequest {
  const messages = request.messages.reduce<readonly ModelMessage[]>(appendAsText, []);
  const described = request.toolChoice === "none" ? [] : request.tools;
  if (described.length === 0) return { ...request, messages, tools: [] };
  const instructions = describe(described, request.toolChoice);
  return { ...request, messages: withSystemText(messages, instructions), tools: [] };
}

/** Results of one turn make one message: many chat templates want user and assistant to alternate. */
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
