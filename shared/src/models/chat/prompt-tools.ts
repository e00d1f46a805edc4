import type { JsonSchema, ModelMessage, ModelRequest, ToolCall, ToolSpec } from "../../core/model.ts";
import { callFence } from "./text-calls.ts";
import { resultText } from "./wire.ts";

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
  const answerSchema = callSchema(described, request.toolChoice);
  return {
    ...request,
    messages: withSystemText(messages, instructions),
    tools: [],
    ...(answerSchema && { answerSchema }),
  };
}

/** The schema of a call that has to be made: many servers hold a model to one. */
function callSchema(tools: readonly ToolSpec[], choice: ModelRequest["toolChoice"]): JsonSchema | undefined {
  if (choice === "auto" || choice === "none") return undefined;
  const meant = tools.filter(({ name }) => choice === "required" || name === choice.name);
  const calls = meant.map(({ name, inputSchema: { $schema: _, ...schema } }) => ({
    type: "object",
    properties: { name: { const: name }, arguments: schema },
    required: ["name", "arguments"],
    additionalProperties: false,
  }));
  return calls.length > 1 ? { anyOf: calls } : calls[0];
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
