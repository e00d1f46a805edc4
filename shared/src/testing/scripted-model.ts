import type { ChatAnswer, ChatRequest } from "../models/chat/chat-protocol.ts";
import { type ChatServer, type Delivery, type Exchange, startChatServer } from "../models/chat/chat-server.ts";

/**
 * What a scripted model answers a request with: an answer, and how (or how badly) it is delivered.
 */
export type ScriptedReply = ChatAnswer & Delivery;

/** A scripted model that runs, and what it has been asked so far, in order. */
export type ScriptedModel = ChatServer & { readonly requests: readonly Exchange[] };

/**
 * Starts a real chat completions server for tests, on a free port: it answers from a list, or from
 * a function of the request and its number (from 0). A request past the end of the list is rejected
 * with status 400. The caller closes it.
 */
export async function startScriptedModel(
  script: readonly ScriptedReply[] | ((request: ChatRequest, n: number) => ScriptedReply),
): Promise<ScriptedModel> {
  const requests: Exchange[] = [];
  const server = await startChatServer({
    models: ["scripted"],
    answer(exchange) {
      const n = requests.push(exchange) - 1;
      if (typeof script === "function") return script(exchange.body, n);
      return script[n] ?? { status: 400, error: { message: `The script ended after ${script.length} replies` } };
    },
  });
  return { ...server, requests };
}
