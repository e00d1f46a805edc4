import type { Tool as Definition } from "@modelcontextprotocol/client";
import type { Tool } from "../tools/tool.ts";
import type { ConnectDeps } from "./connect.ts";
import { type Connection, createConnection } from "./connection.ts";
import type { ConnectionHealth } from "./connection-life.ts";
import { createHeldCalls } from "./held-calls.ts";
import { mountTool } from "./mount-tool.ts";
import type { Pins } from "./pins.ts";
import { getPromptTool, readResourceTool } from "./resource-tools.ts";
import type { ServerConfig } from "./server-config.ts";

/** How a server does, for people: what is started or reached, its connection, and its tools. */
export type ServerHealth = ConnectionHealth & {
  readonly name: string;
  readonly command: string;
  /** Tools that can be called. */
  readonly tools: number;
  /** Tools that are not, since their definition is not the one that was approved. */
  readonly disabled: readonly string[];
};

/** A server as one principal's tasks use it. */
export interface MountedServer {
  readonly server: ServerConfig;
  /** Its tools: as they are now, or, where the server cannot be asked soon, as they last were. Rejects only with the signal's reason. */
  tools(signal: AbortSignal): Promise<readonly Tool[]>;
  /** What the server defines now, and which of that is not as approved. Rejects with an AppError. */
  inspect(
    signal: AbortSignal,
  ): Promise<{ readonly definitions: readonly Definition[]; readonly changed: ReadonlySet<string> }>;
  health(): ServerHealth;
  release(root: string): void;
  close(): Promise<void>;
}

/** How long tasks wait for a server that has not answered yet, in milliseconds from the first that asked. */
const patienceMs = 5_000;

export type MountDeps = ConnectDeps & {
  readonly pins: Pins;
  readonly log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
};

/** Mounts one; nothing is started yet. */
export function mountServer(server: ServerConfig, deps: MountDeps): MountedServer {
  const { pins, log } = deps;
  const held = createHeldCalls();
  const connection = createConnection(server, deps);
  const { shown: command } = server;
  let known:
    | { readonly from: readonly Definition[]; readonly pinned: string; readonly tools: readonly Tool[] }
    | undefined;
  let disabled: readonly string[] = [];
  let unlisted: string | undefined;
  let asked: { readonly since: number; readonly answer: Promise<readonly Definition[] | undefined> } | undefined;

  const mount = async (definitions: readonly Definition[]) => {
    const pinned = await pins.version();
    if (known?.from === definitions && known.pinned === pinned) return known.tools;
    const allowed = definitions.filter(({ name }) => isAllowed(name, server));
    const changed = await pins.changed(server, allowed);
    if (changed.size > disabled.length)
      log.warn(
        { server: server.name, tools: [...changed] },
        "an MCP server changed tools after they were approved; they are disabled",
      );
    disabled = [...changed];
    const tools = allowed.filter(({ name }) => !changed.has(name)).map((one) => mountTool(one, connection, held));
    const own = ownTools(connection, tools);
    known = { from: definitions, pinned: await pins.version(), tools: [...tools, ...own] };
    return known.tools;
  };
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
      if (definitions !== undefined) unlisted = undefined;
    });
    return asked;
  };
  return {
    server,
    async tools(signal) {
      signal.throwIfAborted();
      if (asked === undefined && connection.waitMs() > 0) return known?.tools ?? [];
      const { since, answer } = asked ?? ask();
      const definitions = await within(answer, since + patienceMs - performance.now(), signal);
      if (definitions === undefined) return known?.tools ?? [];
      return mount(definitions).catch((error: unknown) => {
        // Without its pins nothing of it is approved.
        log.warn({ server: server.name, err: error }, "an MCP server's tools cannot be checked; they are left out");
        return [];
      });
    },
    async inspect(signal) {
      const definitions = await connection.tools(signal);
      return { definitions, changed: await pins.changed(server, definitions) };
    },
    health: () => ({
      name: server.name,
      command,
      ...connection.health(),
      ...(unlisted !== undefined && { state: "failed" as const, error: unlisted }),
      tools: known?.tools.length ?? 0,
      disabled,
    }),
    release: (root) => held.release(root),
    async close() {
      held.release();
      await connection.close();
    },
  };
}

/** Our tools for what else a server has, where its entry wants them and no tool of its own has their name. */
function ownTools(connection: Connection, tools: readonly Tool[]): readonly Tool[] {
  const { resources, prompts } = connection.server;
  const all = [...(resources ? [readResourceTool(connection)] : []), ...(prompts ? [getPromptTool(connection)] : [])];
  return all.filter(({ name }) => !tools.some((tool) => tool.name === name));
}

/** Whether a server's tool is to be mounted, by the lists of its entry. */
function isAllowed(tool: string, { tools: { allow, deny } }: ServerConfig): boolean {
  const covers = (pattern: string) =>
    pattern.endsWith("*") ? tool.startsWith(pattern.slice(0, -1)) : tool === pattern;
  return !deny.some(covers) && (allow === undefined || allow.some(covers));
}

/** The value when it comes in time; rejects with the signal's reason. */
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
