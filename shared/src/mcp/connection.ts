import {
  type Client,
  type CreateMessageRequest,
  type ElicitRequest,
  type ElicitResult,
  InsufficientScopeError,
  type Tool,
} from "@modelcontextprotocol/client";
import { AppError } from "../errors.ts";
import { createBackOff, pause, refuseLongWait, unlessAborted } from "./back-off.ts";
import { type ConnectDeps, type Connected, connect } from "./connect.ts";
import { serverFailure } from "./failure-words.ts";
import { isProgram, type ServerConfig } from "./server-config.ts";

/** What a call does with what a server of a 2025 revision asks while it works on it. */
export type CallListener = {
  elicit(params: ElicitRequest["params"]): Promise<ElicitResult>;
  sample(
    params: CreateMessageRequest["params"],
  ): Promise<{ model: string; role: "assistant"; content: { type: "text"; text: string } }>;
};

/** How a connection does, for people. */
export type ConnectionHealth = {
  readonly state: "idle" | "connecting" | "ready" | "failed";
  /** The revision spoken. */
  readonly version?: string;
  /** Why it last failed. */
  readonly error?: string;
  /** Times it was connected. */
  readonly connects: number;
};

/** The one connection to a server for a principal, made when it is first needed and again after it broke. */
export interface Connection {
  readonly server: ServerConfig;
  /** The server's tools as they are now. Rejects with an AppError in words, or the signal's reason. */
  tools(signal: AbortSignal): Promise<readonly Tool[]>;
  /** Uses the client. What fails is an AppError in words; `listener` hears what the server asks meanwhile. */
  use<T>(work: (client: Client) => Promise<T>, signal: AbortSignal, listener?: CallListener): Promise<T>;
  health(): ConnectionHealth;
  /** Milliseconds until another attempt at a server that failed may be made. */
  waitMs(): number;
  close(): Promise<void>;
}

const listMs = 30_000;

/** Makes one; nothing is started yet. */
export function createConnection(server: ServerConfig, deps: ConnectDeps): Connection {
  const backOff = createBackOff();
  const life = new AbortController();
  const listeners = new Set<CallListener>();
  let health: ConnectionHealth = { state: "idle", connects: 0 };
  let current: Promise<Connected> | undefined;
  const listed = createMemory(() => use(listTools, life.signal));
  const fail = (error: unknown, ending: string | undefined) => {
    const failure = serverFailure(server.name, error, ending);
    health = { state: "failed", connects: health.connects, error: failure.message };
    current = undefined;
    listed.forget();
    backOff.failed();
    return failure;
  };
  const open = async () => {
    health = { ...health, state: "connecting" };
    try {
      const one = await connect(
        server,
        deps,
        { ready: (client) => listen(client, server, listeners), toolsChanged: listed.forget },
        life.signal,
      );
      const version = one.client.getNegotiatedProtocolVersion();
      health = { state: "ready", connects: health.connects + 1, ...(version !== undefined && { version }) };
      one.client.onclose = () => {
        if (health.state === "ready") fail(new Error("it closed the connection"), one.ending());
      };
      return one;
    } catch (error) {
      throw fail(error, undefined);
    }
  };
  const connected = async (signal: AbortSignal) => {
    if (life.signal.aborted) throw life.signal.reason;
    if (current === undefined) {
      const waitMs = backOff.waitMs();
      refuseLongWait(server.name, waitMs, health.error);
      await pause(waitMs, signal);
      current ??= open();
      current.catch(() => undefined);
    }
    return unlessAborted(current, signal);
  };
  const use: Connection["use"] = async (work, signal, listener) => {
    const one = await connected(signal);
    if (listener !== undefined) listeners.add(listener);
    try {
      const value = await work(one.client);
      backOff.worked();
      return value;
    } catch (error) {
      signal.throwIfAborted();
      await heedScope(server, error, deps);
      throw serverFailure(server.name, error, one.ending());
    } finally {
      if (listener !== undefined) listeners.delete(listener);
    }
  };
  const listTools = async (client: Client) =>
    (await client.listTools({}, { timeout: listMs, signal: life.signal })).tools;
  return {
    server,
    tools: (signal) => unlessAborted(listed.get(), signal),
    use,
    health: () => health,
    waitMs: () => (current === undefined ? backOff.waitMs() : 0),
    async close() {
      life.abort(new AppError("unavailable", `The MCP server ${server.name} is no longer in use.`));
      const one = await current?.catch(() => undefined);
      health = { ...health, state: "idle" };
      await one?.client.close();
    },
  };
}

/** Where a server wants a wider scope, the next signing in will ask for it. */
async function heedScope(server: ServerConfig, error: unknown, deps: ConnectDeps): Promise<void> {
  if (!(error instanceof InsufficientScopeError) || error.requiredScope === undefined || isProgram(server)) return;
  await deps.widenScope(server, error.requiredScope);
}

/** What was asked for is kept until it is forgotten or fails. */
function createMemory<T>(ask: () => Promise<T>) {
  let kept: Promise<T> | undefined;
  return {
    get() {
      if (kept !== undefined) return kept;
      const asked = ask();
      kept = asked;
      asked.catch(() => {
        if (kept === asked) kept = undefined;
      });
      return asked;
    },
    forget() {
      kept = undefined;
    },
  };
}

/** Hears what the server asks. It cannot be told which of several calls a question belongs to: it is heard only where there is one. */
function listen(client: Client, server: ServerConfig, listeners: ReadonlySet<CallListener>): void {
  const only = () => (listeners.size === 1 ? [...listeners][0] : undefined);
  if (server.elicitation)
    client.setRequestHandler(
      "elicitation/create",
      async ({ params }) => (await only()?.elicit(params)) ?? { action: "cancel" },
    );
  if (server.sampling)
    client.setRequestHandler("sampling/createMessage", async ({ params }) => {
      const listener = only();
      if (listener === undefined) throw new Error("No call is under way that this could be for.");
      return listener.sample(params);
    });
}
