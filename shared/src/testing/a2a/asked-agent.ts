import { AgentCard } from "@a2a-js/sdk";
import { type A2aClientOptions, createA2aClient } from "../../a2a/client/client.ts";
import { agentExtension } from "../../a2a/extensions.ts";
import { AppError } from "../../core/errors.ts";
import { cardOf } from "./card.ts";

/** What an agent was asked. */
export type Asked = { readonly method: string; readonly params: Record<string, unknown>; readonly headers: Headers };
/** What a method answers to its n-th call; `signal` is aborted when the caller goes. */
export type Answer = (
  params: Record<string, unknown>,
  count: number,
  signal: AbortSignal,
) => object | Promise<Response>;
/** A state, without what all of them begin with. */
export type State = "WORKING" | "INPUT_REQUIRED" | "AUTH_REQUIRED" | "COMPLETED" | "CANCELED";

/** The task `t` in this state. */
export const taskIn = (state: State) => ({ id: "t", contextId: "c", status: { state: `TASK_STATE_${state}` } });
/** The news that it is in this state. */
export const statusIn = (state: State) => ({ taskId: "t", contextId: "c", status: { state: `TASK_STATE_${state}` } });
/** An answer without a task. */
export const reply = { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hello" }] };
/** The code with which a call fails, or what it throws; undefined if it does not. */
export const codeOf = async (call: Promise<unknown> | undefined) => {
  try {
    await call;
    return undefined;
  } catch (error) {
    return error instanceof AppError ? error.code : error;
  }
};

/**
 * An agent with these extensions that answers each method so, a list as a stream, all others as
 * `any`; and what it was asked.
 */
export function agentOf(
  answers: Readonly<Record<string, Answer>>,
  {
    extensions = [agentExtension] as readonly (string | { readonly uri: string; readonly required: true })[],
    streaming = true,
    interfaces = undefined as readonly string[] | undefined,
  } = {},
) {
  const asked: Asked[] = [];
  const read: string[] = [];
  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (request.method === "GET") {
        read.push(pathname);
        const card = AgentCard.toJSON(cardOf("Other", server.url.origin)) as object;
        return Response.json({
          ...card,
          capabilities: {
            streaming,
            pushNotifications: true,
            extensions: extensions.map((one) => (typeof one === "string" ? { uri: one } : one)),
          },
          supportedInterfaces: (interfaces ?? [server.url.origin]).map((url) => ({
            url: url.startsWith("/") ? `${server.url.origin}${url}` : url,
            protocolBinding: "JSONRPC",
            protocolVersion: "1.0",
          })),
        });
      }
      const { id, method, params } = (await request.json()) as { id: unknown; method: string; params: never };
      asked.push({ method: pathname === "/" ? method : `${pathname} ${method}`, params, headers: request.headers });
      const count = asked.filter((one) => one.method === method).length;
      const answer = await (answers[method] ?? answers.any)?.(params, count, request.signal);
      if (answer === undefined || answer instanceof Response) return answer ?? new Response(null, { status: 403 });
      const rpc = (result: unknown) => JSON.stringify({ jsonrpc: "2.0", id, result });
      if (!Array.isArray(answer)) return new Response(rpc(answer), { headers: { "Content-Type": "application/json" } });
      const frames = answer.map((frame) => `data: ${rpc(frame)}\n\n`).join("");
      return new Response(frames, { headers: { "Content-Type": "text/event-stream" } });
    },
  });
  const url = server.url.origin;
  return {
    asked,
    read,
    url,
    methods: () => asked.map(({ method }) => method),
    connect: (options: A2aClientOptions = {}, path = "") =>
      createA2aClient(`${url}${path}`, { retry: { retries: 2, firstPauseMs: 1 }, ...options }),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
