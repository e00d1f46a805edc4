import type { Tool as Definition } from "@modelcontextprotocol/client";
import type { Tool } from "../../core/tools/tool.ts";
import { approvedTools } from "./approved-tools.ts";
import type { ConnectDeps } from "./connection/connect.ts";
import { createConnection } from "./connection/connection.ts";
import type { ConnectionHealth } from "./connection/connection-life.ts";
import type { ToolPins } from "./pins.ts";
import type { RememberedTools } from "./remembered-tools.ts";
import type { ServerConfig } from "./servers/server-config.ts";
import { createSuspendedCalls } from "./suspended-calls.ts";

/** A server's state, for people: its command or URL, its connection, and its tools. */
export type ServerHealth = ConnectionHealth & {
  readonly name: string;
  readonly command: string;
  /** The number of tools that can be called. */
  readonly tools: number;
  /** Tools that cannot be called because their definition is not the approved one. */
  readonly disabled: readonly string[];
};

/** A server as one principal's tasks use it. */
export interface MountedServer {
  readonly server: ServerConfig;
  /**
   * Its current tools or, if the server cannot be asked soon, its tools as last seen. A server that
   * was never tried is waited for. Rejects only with the signal's reason.
   */
  tools(signal: AbortSignal): Promise<readonly Tool[]>;
  /**
   * Like `tools`, but a server whose tools were seen before, or that failed, is waited for like one
   * that was never tried.
   */
  toolsNow(signal: AbortSignal): Promise<readonly Tool[]>;
  /** Why none of its tools are known, for people; undefined if they are. */
  missing(): string | undefined;
  /**
   * The server's current definitions, and which of them differ from the approved ones. Rejects with
   * an AppError.
   */
  inspect(
    signal: AbortSignal,
  ): Promise<{ readonly definitions: readonly Definition[]; readonly changed: ReadonlySet<string> }>;
  health(): ServerHealth;
  release(root: string): void;
  close(): Promise<void>;
}

/**
 * How long tasks wait for a server whose tools are known from last time, or that has failed.
 * Milliseconds.
 */
const shortPatienceMs = 1_000;

/** What mounting a server needs. */
export type MountDeps = Omit<ConnectDeps, "refused"> & {
  readonly pins: ToolPins;
  readonly remembered: RememberedTools;
  readonly log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
};

/** Mounts a server; nothing is started yet. */
export function mountServer(server: ServerConfig, deps: MountDeps): MountedServer {
  const { pins, log } = deps;
  const held = createSuspendedCalls();
  let refused: string | undefined;
  const connection = createConnection(server, {
    ...deps,
    refused(sentence) {
      refused ??= sentence;
    },
  });
  const approved = approvedTools(connection, held, deps);
  const { shown: command } = server;
  let unlisted: string | undefined;
  let isOffered = false;
  let asked: { readonly since: number; readonly answer: Promise<readonly Definition[] | undefined> } | undefined;

  const ask = () => {
    if (connection.health().connects === 0) log.info({ server: server.name, command }, "connecting to an MCP server");
    const answer = connection.tools(new AbortController().signal).catch((error: unknown) => {
      log.warn({ server: server.name, command, err: error }, "an MCP server cannot be used");
      unlisted = (error as Error).message;
      return undefined;
    });
    asked = { since: performance.now(), answer };
    void answer.then((definitions) => {
      asked = undefined;
      if (definitions === undefined) return;
      unlisted = undefined;
      refused = undefined;
    });
    return asked;
  };
  const toolsWithin = async (signal: AbortSignal, triedBeforeMs: number): Promise<readonly Tool[]> => {
    signal.throwIfAborted();
    const isResting = asked === undefined && connection.waitMs() > 0;
    const before = await approved.before();
    if (isResting) return before;
    const { since, answer } = asked ?? ask();
    const isTried = before.length > 0 || unlisted !== undefined;
    const patienceMs = isTried ? Math.min(triedBeforeMs, deps.patienceMs) : deps.patienceMs;
    const definitions = await within(answer, since + patienceMs - performance.now(), signal);
    return definitions === undefined ? before : approved.mount(definitions);
  };
  const offered = async (found: Promise<readonly Tool[]>) => {
    const tools = await found;
    isOffered = approved.count() !== undefined || tools.length > 0;
    return tools;
  };
  return {
    server,
    tools: (signal) => offered(toolsWithin(signal, shortPatienceMs)),
    toolsNow: (signal) => offered(toolsWithin(signal, deps.patienceMs)),
    missing: () =>
      isOffered ? undefined : [unlisted ?? "it has not answered yet.", refused].filter(Boolean).join(" "),
    async inspect(signal) {
      const definitions = await connection.tools(signal);
      return { definitions, changed: await pins.changed(server, definitions) };
    },
    health: () => ({
      name: server.name,
      command,
      ...connection.health(),
      ...(unlisted !== undefined && { state: "failed" as const, error: [unlisted, refused].filter(Boolean).join(" ") }),
      tools: approved.count() ?? 0,
      disabled: approved.disabled(),
    }),
    release: (root) => held.release(root),
    async close() {
      held.release();
      await connection.close();
    },
  };
}

/** The value if it arrives in time, otherwise undefined; rejects with the signal's reason. */
async function within<T>(value: Promise<T>, milliseconds: number, signal: AbortSignal): Promise<T | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), Math.max(0, milliseconds));
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([value, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}
