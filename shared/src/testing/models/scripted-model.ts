import type { ChatAnswer, ChatRequest } from "../../models/chat/chat-protocol.ts";
import { type AnswerDelivery, type ChatExchange, startChatServer } from "../../models/chat/chat-server.ts";

/** What a scripted model sends back: an answer, and how (or how badly) it is delivered. */
export type ScriptedReply = ChatAnswer & AnswerDelivery;

/**
 * What a scripted model says: a list of replies, or a function of the request and its number (from
 * 0).
 */
export type ModelScript = readonly ScriptedReply[] | ((request: ChatRequest, n: number) => ScriptedReply);

/** A running scripted model. */
export type ScriptedModel = {
  /** The base URL for clients, `/v1` included. */
  readonly url: string;
  /** The requests so far, in order. */
  readonly requests: readonly ChatExchange[];
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
};

/**
 * Starts a real chat completions server for tests, on a free port. Requests past the end of a list
 * get status 400. The caller closes it.
 */
export async function startScriptedModel(script: ModelScript): Promise<ScriptedModel> {
  const requests: ChatExchange[] = [];
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
