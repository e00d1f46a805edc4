import { type ChatMessage, type ChatRequest, chatText } from "../chat/chat-protocol.ts";
import type { Scene, Script, ScriptedTurn } from "./script.ts";

/**
 * The next turn in the conversation of a request, or undefined if no script knows its task or the
 * script is over. It depends only on the request, so a restarted server continues where the
 * previous one stopped.
 */
export function nextTurn(request: ChatRequest, scripts: readonly Script[]): ScriptedTurn | undefined {
  const { messages } = request;
  const able = scripts.filter(({ decides }) => decides === decidedBy(request));
  const start = messages.findLastIndex((message) => scriptFor(message, able) !== undefined);
  const opening = messages[start];
  const script = opening === undefined ? undefined : scriptFor(opening, able);
  if (opening === undefined || script === undefined) return undefined;
  const performance = script.play({ ...sceneOf(request), text: chatText(opening) });
  const turns = turnsIn(messages.slice(start + 1));
  if ("say" in performance) return turns.length === 0 ? performance : undefined;
  let step = performance.next();
  for (const results of turns) {
    if (step.done === true) return undefined;
    step = performance.next(results);
  }
  return step.value;
}

/** The tools that a request offers. */
export function sceneOf({ tools }: ChatRequest): Pick<Scene, "tools"> {
  return { tools: new Set((tools ?? []).map((tool) => tool.function.name)) };
}

/** The tool that the answer must call; undefined if the model may choose. */
function decidedBy({ tool_choice }: ChatRequest): string | undefined {
  return typeof tool_choice === "object" ? tool_choice?.function.name : undefined;
}

function scriptFor(message: ChatMessage, scripts: readonly Script[]): Script | undefined {
  if (message.role !== "user") return undefined;
  const text = squeezed(chatText(message)).replaceAll(knownTasks, "");
  return scripts.find((script) => text.includes(squeezed(script.task)));
}

/**
 * The tasks that a refusal names, where a flow quotes it to whoever tries again; the last may be
 * cut.
 */
const knownTasks = /I know only:(?: "[^"]*"[,.]?)*(?: "[^"]*?…)?/g;

/** The results of each past turn, in the order of its calls. */
function turnsIn(messages: readonly ChatMessage[]): readonly (readonly string[])[] {
  const texts = new Map<string, string>();
  for (const message of messages) {
    if (message.role === "tool") texts.set(message.tool_call_id ?? "", chatText(message));
  }
  return messages
    .filter((message) => message.role === "assistant")
    .map((message) => (message.tool_calls ?? []).map((call) => texts.get(call.id) ?? ""));
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
