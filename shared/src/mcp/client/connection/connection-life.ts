import type { Client } from "@modelcontextprotocol/client";
import { AppError } from "../../../core/errors.ts";
import type { ServerConfig } from "../servers/server-config.ts";
import { createBackOff, pause, refuseLongWait, unlessAborted } from "./back-off.ts";
import { type ConnectDeps, type Connected, connect } from "./connect.ts";
import { serverFailure } from "./failure-words.ts";

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

/** A client that is connected when it is needed, again and again, with pauses where that fails. */
export interface ConnectionLife {
  /** Aborts when it is over. */
  readonly signal: AbortSignal;
  /** The connected client. Rejects with an AppError in words, or the signal's reason. */
  connected(signal: AbortSignal): Promise<Connected>;
  /** It answered: the next failure is a first one. */
  worked(): void;
  /** Leaves this client, where it is still the one in use; the next use connects another. */
  leave(one: Connected): void;
  health(): ConnectionHealth;
  /** Milliseconds until another attempt at a server that failed may be made. */
  waitMs(): number;
  close(): Promise<void>;
}

/**
 * `ready` hears of each client before it connects, `changed` whenever the server's tools may be
 * others than they were.
 */
type Hearing = { ready(client: Client): void; changed(): void };

/** Makes one that is not connected yet. */
export function createLife(server: ServerConfig, deps: ConnectDeps, { ready, changed }: Hearing): ConnectionLife {
  const backOff = createBackOff();
  const life = new AbortController();
  let health: ConnectionHealth = { state: "idle", connects: 0 };
  let current: Promise<Connected> | undefined;
  let live: Connected | undefined;
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
      const one = await connect(server, deps, { ready, toolsChanged: changed }, life.signal);
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
        await pause(waitMs, signal);
        current ??= open();
        current.catch(() => undefined);
      }
      return unlessAborted(current, signal);
    },
    worked: backOff.worked,
    leave(one) {
      if (live !== one) return;
      forget();
      void one.client.close();
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
