import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { type ChatRequest, chatText } from "manyhands/internal/models/chat/chat-protocol";

/** An image in a prompt, about as most providers count one of a window. */
const imageTokens = 1_100;
const tokensOf = (text: string) => encode(text).length;

/** The tokens of what does not depend on the task: the instructions, and each tool. */
export function fixedTokens({ messages, tools = [] }: ChatRequest): number {
  const instructions = messages.filter(({ role }) => role === "system").map(chatText);
  const texts = [...instructions, ...tools.map((tool) => JSON.stringify(tool.function))];
  return texts.reduce((sum, text) => sum + tokensOf(text), 0);
}

/** The tokens of all requests together, and of those the ones that do not repeat the one before. */
export function countWork(requests: readonly ChatRequest[]): { readonly total: number; readonly outside: number } {
  let total = 0;
  let outside = 0;
  let before: readonly string[] = [];
  for (const pieces of requests.map(piecesOf)) {
    const differs = pieces.findIndex((piece, at) => piece !== before[at]);
    const sizes = pieces.map(messageTokens);
    total += sizes.reduce((sum, size) => sum + size, 0);
    outside += differs < 0 ? 0 : sizes.slice(differs).reduce((sum, size) => sum + size, 0);
    before = pieces;
  }
  return { total, outside };
}

/** A request piece by piece, in the order in which providers read it: tools, then messages. */
function piecesOf({ messages, tools = [] }: ChatRequest): string[] {
  return [...tools.map((tool) => JSON.stringify(tool.function)), ...messages.map((message) => JSON.stringify(message))];
}

function messageTokens(piece: string): number {
  const { role, tool_calls: calls = [], ...message } = JSON.parse(piece);
  if (role === undefined) return tokensOf(piece);
  const images = Array.isArray(message.content)
    ? message.content.filter(({ type }: { type: string }) => type === "image_url").length
    : 0;
  const made = (calls ?? []).map((made: { function: unknown }) => JSON.stringify(made.function)).join("");
  return tokensOf(chatText({ role, ...message })) + tokensOf(made) + images * imageTokens;
}
