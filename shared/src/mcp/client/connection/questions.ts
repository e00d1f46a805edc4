import { AsyncLocalStorage } from "node:async_hooks";
import type { Client, CreateMessageRequest, ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import type { ServerConfig } from "../servers/server-config.ts";

/** Handles what a server of a 2025 revision asks while it works on a call. */
export type CallListener = {
  elicit(params: ElicitRequest["params"]): Promise<ElicitResult>;
  /** A question that could have been for this call or another was cancelled. */
  unclear(): void;
  sample(
    params: CreateMessageRequest["params"],
  ): Promise<{ model: string; role: "assistant"; content: { type: "text"; text: string } }>;
};

/** Hands what a server of a 2025 revision asks to the call that it is for. */
export type Questions = {
  /** Does a call's work; what the server asks meanwhile may be for its listener. */
  during<T>(listener: CallListener | undefined, work: () => Promise<T>): Promise<T>;
  /** Does something that is of no call, such as connecting. */
  aside<T>(work: () => Promise<T>): Promise<T>;
  /** Sets a client's handlers. */
  listen(client: Client, server: ServerConfig): void;
};

/**
 * A question does not name the call it belongs to. Over HTTP it comes in the answer to the call's
 * request, and so in what that set off; otherwise it is passed on if exactly one call can have
 * asked it: one that waits for a person already has asked its question, and waits for the answer.
 */
export function createQuestions(): Questions {
  const listeners = new Set<CallListener>();
  const waiting = new Set<CallListener>();
  const calling = new AsyncLocalStorage<{ readonly listener: CallListener | undefined } | undefined>();
  const asking = (): readonly CallListener[] => {
    const call = calling.getStore();
    if (call !== undefined) return call.listener !== undefined && listeners.has(call.listener) ? [call.listener] : [];
    const free = [...listeners].filter((one) => !waiting.has(one));
    return free.length > 0 ? free : [...listeners];
  };
  const elicit = async (listener: CallListener, params: Parameters<CallListener["elicit"]>[0]) => {
    const isFirst = !waiting.has(listener);
    waiting.add(listener);
    try {
      return await listener.elicit(params);
    } finally {
      if (isFirst) waiting.delete(listener);
    }
  };
  return {
    async during(listener, work) {
      if (listener !== undefined) listeners.add(listener);
      try {
        return await calling.run({ listener }, work);
      } finally {
        if (listener !== undefined) listeners.delete(listener);
      }
    },
    aside: (work) => calling.run(undefined, work),
    listen(client, { elicitation, sampling }) {
      if (elicitation)
        client.setRequestHandler("elicitation/create", async ({ params }) => {
          const [listener, ...others] = asking();
          if (listener !== undefined && others.length === 0) return elicit(listener, params);
          for (const one of asking()) one.unclear();
          return { action: "cancel" };
        });
      if (sampling)
        client.setRequestHandler("sampling/createMessage", async ({ params }) => {
          const [listener, ...others] = asking();
          if (listener === undefined || others.length > 0) throw new Error(unclear(others.length));
          return listener.sample(params);
        });
    },
  };
}

/** Why a question is for none of the calls under way. */
function unclear(others: number): string {
  if (others === 0) return "No call is under way that this could be for.";
  return "Several calls are under way on this connection, and in this revision nothing says which of them this is for.";
}
