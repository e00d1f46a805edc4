import type { Client } from "@modelcontextprotocol/client";
import { sleep } from "../../../core/async/sleep.ts";
import { abortable } from "../../../core/async/within.ts";
import { AppError } from "../../../core/errors.ts";
import type { ServerConfig } from "../servers/server-config.ts";
import { createBackOff, refuseLongWait } from "./back-off.ts";
import { type ConnectDeps, type ConnectedClient, connect } from "./connect.ts";
import { serverFailure } from "./failure-words.ts";

/** The state of a connection, for people. */
export type ConnectionHealth = {
  readonly state: "idle" | "connecting" | "ready" | "failed";
  /** The protocol revision in use. */
  readonly version?: string;
  /** Why it last failed. */
  readonly error?: string;
  /** How often it was connected. */
  readonly connects: number;
  /** Tools of its list whose definition is invalid, each with what is wrong; they are left out. */
  readonly invalid?: readonly string[];
};

/** A client that connects on demand and reconnects, with pauses after failures. */
export interface ConnectionLife {
  /** Aborts on `close`. */
  readonly signal: AbortSignal;
  /** The connected client. Rejects with a readable AppError, or the signal's reason. */
  connected(signal: AbortSignal): Promise<ConnectedClient>;
  /** Reports that the server answered: the next failure counts as the first. */
  worked(): void;
  /** Drops this client if it is the current one; the next use connects a new one. */
  leave(one: ConnectedClient): void;
  /** Closes this client, which nobody uses any more, if it is no longer the current one. */
  retire(one: ConnectedClient): void;
  health(): ConnectionHealth;
  /** Milliseconds until the next attempt at a server that failed is allowed. */
  waitMs(): number;
  close(): Promise<void>;
}

/**
 * `ready` is called with each client before it connects, `changed` whenever the server's tools may
 * have changed, `leftOut` with each invalid tool of a list.
 */
type Hearing = { ready(client: Client): void; changed(): void; leftOut(tool: string): void };

/** Creates one that is not connected yet. */
export function createLife(server: ServerConfig, deps: ConnectDeps, { changed, ...hearing }: Hearing): ConnectionLife {
  const backOff = createBackOff();
  const life = new AbortController();
  let health: ConnectionHealth = { state: "idle", connects: 0 };
  let current: Promise<ConnectedClient> | undefined;
  let live: ConnectedClient | undefined;
  const forget = () => {
    live = undefined;
    current = undefined;
    changed();
  };
  const fail = (error: unknown, ending: string | undefined) => {
    const failure = serverFailure(server.name, error, ending);
    health = { state: "failed", connects: health.connects, error: failure.message };
    forget();
    backOff.failed();
    return failure;
  };
  const open = async () => {
    health = { ...health, state: "connecting" };
    try {
      const one = await connect(server, deps, { ...hearing, toolsChanged: changed }, life.signal);
      const version = one.client.getNegotiatedProtocolVersion();
      health = { state: "ready", connects: health.connects + 1, ...(version !== undefined && { version }) };
      live = one;
      one.client.onclose = () => {
        if (live === one) fail(new Error("it closed the connection"), one.ending());
      };
      return one;
    } catch (error) {
      throw fail(error, undefined);
    }
  };
  return {
    signal: life.signal,
    async connected(signal) {
      if (life.signal.aborted) throw life.signal.reason;
      if (current === undefined) {
        const waitMs = backOff.waitMs();
        refuseLongWait(server.name, waitMs, health.error);
        await sleep(waitMs, signal);
        current ??= open();
        current.catch(() => undefined);
      }
      return abortable(current, signal);
    },
    worked: backOff.worked,
    leave(one) {
      if (live === one) forget();
    },
    retire(one) {
      if (live !== one) void one.client.close();
    },
    health: () => health,
    waitMs: () => (current === undefined ? backOff.waitMs() : 0),
    async close() {
      life.abort(new AppError("unavailable", `The MCP server ${server.name} is no longer in use.`));
      const one = await current?.catch(() => undefined);
      live = undefined;
      health = { ...health, state: "idle" };
      await one?.client.close();
    },
  };
}
