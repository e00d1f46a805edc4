import { type Client, InsufficientScopeError, SdkHttpError, type Tool } from "@modelcontextprotocol/client";
import { abortable } from "../../../core/async/within.ts";
import { isProgram, type ServerConfig } from "../servers/server-config.ts";
import type { ConnectDeps } from "./connect.ts";
import { type ConnectionHealth, createLife } from "./connection-life.ts";
import { serverFailure } from "./failure-words.ts";
import { type CallListener, createQuestions } from "./questions.ts";

/** A principal's one connection to a server, made on first use and again after it broke. */
export interface ServerConnection {
  readonly server: ServerConfig;
  /** The server's current tools. Rejects with a readable AppError, or the signal's reason. */
  tools(signal: AbortSignal): Promise<readonly Tool[]>;
  /**
   * Uses the client. Failures are readable AppErrors; `listener` handles what the server asks
   * meanwhile.
   */
  use<T>(work: (client: Client) => Promise<T>, signal: AbortSignal, listener?: CallListener): Promise<T>;
  health(): ConnectionHealth;
  /** Milliseconds until the next attempt at a server that failed is allowed. */
  waitMs(): number;
  close(): Promise<void>;
}

const listMs = 30_000;

/** Creates one; nothing is started yet. */
export function createConnection(server: ServerConfig, deps: ConnectDeps): ServerConnection {
  const questions = createQuestions();
  const listed = createMemory(() => use(listTools, life.signal));
  const life = createLife(server, deps, {
    ready: (client) => questions.listen(client, server),
    changed: listed.forget,
    leftOut: (tool) => void invalid.add(tool),
  });
  const invalid = new Set<string>();
  const underWay = createCounts();
  const attempt: ServerConnection["use"] = async (work, signal, listener) => {
    const one = await questions.aside(() => life.connected(signal));
    underWay.add(one);
    try {
      const value = await questions.during(listener, () => work(one.client));
      life.worked();
      return value;
    } catch (error) {
      signal.throwIfAborted();
      if (isForgotten(one.client, error)) {
        life.leave(one);
        throw error;
      }
      await heedScope(server, error, deps);
      throw serverFailure(server.name, error, one.ending());
    } finally {
      // Others whose session was forgotten too have yet to learn it, so the last one closes it.
      if (underWay.remove(one) === 0) life.retire(one);
    }
  };
  const use: ServerConnection["use"] = async (work, signal, listener) => {
    try {
      return await attempt(work, signal, listener);
    } catch (error) {
      if (!(error instanceof SdkHttpError)) throw error;
    }
    // A request that a server rejected because of its session was not executed, so it can be
    // repeated.
    return attempt(work, signal, listener).catch((error: unknown) => {
      throw error instanceof SdkHttpError ? serverFailure(server.name, error, undefined) : error;
    });
  };
  const listTools = async (client: Client) => {
    invalid.clear();
    const { tools } = await client.listTools({}, { timeout: listMs, signal: life.signal });
    if (invalid.size > 0)
      deps.log.warn({ server: server.name, tools: [...invalid] }, "an MCP server's invalid tools are left out");
    return firstOfEachName(tools);
  };
  return {
    server,
    tools: (signal) => abortable(listed.get(), signal),
    use,
    health: () => ({ ...life.health(), ...(invalid.size > 0 && { invalid: [...invalid] }) }),
    waitMs: life.waitMs,
    close: life.close,
  };
}

/**
 * Whether a request was rejected because its session is unknown; some servers report that as 400.
 */
function isForgotten({ transport }: Client, error: unknown): boolean {
  return transport?.sessionId !== undefined && error instanceof SdkHttpError && [400, 404].includes(error.status ?? 0);
}

/** Providers refuse every request in which two tools have one name. */
function firstOfEachName(tools: readonly Tool[]): readonly Tool[] {
  const names = new Set<string>();
  return tools.filter(({ name }) => !names.has(name) && names.add(name));
}

/** If a server requires a wider scope, the next sign-in will ask for it. */
async function heedScope(server: ServerConfig, error: unknown, deps: ConnectDeps): Promise<void> {
  if (!(error instanceof InsufficientScopeError) || error.requiredScope === undefined || isProgram(server)) return;
  await deps.widenScope(server, error.requiredScope);
}

/** Counts what is in use. `remove` returns how many uses are left. */
function createCounts() {
  const counts = new Map<object, number>();
  return {
    add: (one: object) => void counts.set(one, (counts.get(one) ?? 0) + 1),
    remove(one: object): number {
      const left = (counts.get(one) ?? 1) - 1;
      if (left === 0) counts.delete(one);
      else counts.set(one, left);
      return left;
    },
  };
}

/** Caches a result until it is forgotten or fails. */
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
