import { join } from "node:path";
import type { MoreTools, ToolsListed } from "../../core/agent.ts";
import { closeAll } from "../../core/async/close-all.ts";
import { localCaller } from "../../core/caller.ts";
import { AppError } from "../../core/errors.ts";
import type { KeptText } from "../../core/text/kept-text.ts";
import { sha256Of } from "../../core/text/sha256.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { estimateTokens } from "../../models/tokens.ts";
import { type ServerChanges, serverChanges } from "./change-servers.ts";
import { findTools, findToolsName, foundTools } from "./find-tools.ts";
import type { MountDeps, MountedServer, ServerHealth } from "./mounted-server.ts";
import { createPins, type ToolPins } from "./pins.ts";
import { rememberedTools } from "./remembered-tools.ts";
import type { ServerConfig } from "./servers/server-config.ts";
import { openServerList, type ServerListOptions } from "./servers/server-list.ts";
import { isMountedName } from "./servers/tool-name.ts";

/** The state of the servers, for people. */
export type McpHealth = { readonly servers: readonly ServerHealth[]; readonly problem?: string };

/** The MCP servers of this process. */
export interface McpHost extends ServerChanges {
  /** The tools of these servers, or of all, in the form an agent takes. */
  mount(servers: readonly string[] | "all"): MoreTools;
  /** The enabled servers in the current `mcp.json`. */
  servers(): Promise<readonly ServerConfig[]>;
  /** One server, connected on demand, for inspection. Rejects with `not_found`. */
  open(name: string): Promise<MountedServer>;
  /** Approves a server's current definitions. Resolves with the number of tools. */
  approve(name: string, signal: AbortSignal): Promise<number>;
  /** The servers that this principal's tasks use; if left out, those used outside any task. */
  health(principal?: string): McpHealth;
  close(): Promise<void>;
}

/** Which servers there are, and what mounting them needs. */
export type McpHostOptions = Omit<MountDeps, "pins" | "remembered" | "authorize" | "widenScope"> &
  ServerListOptions & {
    /** How a principal's tasks authenticate to remote servers. */
    signIns(principal: string): Pick<MountDeps, "authorize" | "widenScope">;
    /** Where what servers were allowed to offer is pinned. */
    readonly pinned: KeptText;
    readonly home: string;
    /** Most tokens of definitions in a prompt; with more, tools have to be searched for. */
    readonly definitionTokens: number;
  };

/** A task that waits longer than this for servers reports it. */
const tellAfterMs = 1_500;

/** The principal for servers used outside a task. */
const local = localCaller.principal;

/**
 * Reads `mcp.json` and creates the host; servers whose entries request it are connected at once.
 * Rejects with `config_invalid`.
 */
export async function createMcpHost(options: McpHostOptions): Promise<McpHost> {
  const list = await openServerList(options);
  const pins = createPins(options.pinned);
  const mounts = createMounts(options, pins);
  /** The servers in `mcp.json`. Servers no longer in it are closed. */
  const current = async () => {
    const servers = await list.now();
    mounts.keep(new Set(servers.map(({ name }) => name)));
    return servers;
  };
  const find = async (name: string) => {
    const server = (await current()).find((one) => one.name === name);
    return server && mounts.of(server, local);
  };
  const open = async (name: string) => {
    const found = await find(name);
    if (found !== undefined) return found;
    const known = (await current()).map((one) => one.name).join(", ") || "none";
    throw new AppError(
      "not_found",
      `There is no MCP server ${JSON.stringify(name)} in ${options.file}. Known: ${known}.`,
    );
  };
  const sizeOf = createSizes();
  for (const server of await list.now())
    if (server.start === "eager") void (await mounts.of(server, local)).tools(new AbortController().signal);
  return {
    ...serverChanges(options, find),
    mount: (names) => ({
      async list(principal, signal, tell) {
        const wanted = (await current()).filter(({ name }) => names === "all" || names.includes(name));
        const servers = await Promise.all(wanted.map((server) => mounts.of(server, principal)));
        return listAll(servers, signal, (names) => tell?.(waitingText(names, options.patienceMs)));
      },
      offer(tools, told) {
        const tokens = tools.reduce((sum, tool) => sum + sizeOf(tool), 0);
        return tokens <= options.definitionTokens ? tools : [findTools(tools), ...foundTools(tools, told)];
      },
      mayHave: (name) => name === findToolsName || isMountedName(name),
      async release({ root }) {
        for (const { one } of mounts.all()) one.release(root);
      },
    }),
    servers: current,
    open,
    async approve(name, signal) {
      const one = await open(name);
      const { definitions } = await one.inspect(signal);
      await pins.approve(one.server, definitions);
      return definitions.length;
    },
    health(principal = local) {
      const problem = list.problem();
      const own = mounts.all().filter((each) => each.principal === principal);
      return { servers: own.map(({ one }) => one.health()), ...(problem !== undefined && { problem }) };
    },
    close: () => closeAll(mounts.all().map((mounted) => mounted.one.close)),
  };
}

/** A server, and whose tasks use it. */
type Mounted = { readonly principal: string; readonly one: MountedServer };

/** The servers in use, each mounted once for every principal whose tasks use it. */
function createMounts(options: McpHostOptions, pins: ToolPins) {
  const folder = join(options.home, "mcp-tools");
  const depsOf = (principal: string): MountDeps => ({
    ...options,
    ...options.signIns(principal),
    pins,
    // What a server offers may depend on who signed in.
    remembered: rememberedTools(principal === local ? folder : join(folder, "of", sha256Of(principal))),
  });
  const mounted = new Map<string, Mounted>();
  return {
    all: () => [...mounted.values()],
    async of(server: ServerConfig, principal: string): Promise<MountedServer> {
      // The protocol's client is large, and most agents have no server to use it with.
      const { mountServer } = await import("./mounted-server.ts");
      const key = JSON.stringify([principal, server.name]);
      const there = mounted.get(key);
      if (there !== undefined && Bun.deepEquals(there.one.server, server)) return there.one;
      void there?.one.close();
      const one = mountServer(server, depsOf(principal));
      mounted.set(key, { principal, one });
      return one;
    },
    /** Closes the servers of other names. */
    keep(names: ReadonlySet<string>) {
      for (const [key, { one }] of mounted)
        if (!names.has(one.server.name)) {
          mounted.delete(key);
          void one.close();
        }
    },
  };
}

/**
 * The tools of all servers, which are asked concurrently; `wait` receives the names of those still
 * awaited.
 */
async function listAll(
  servers: readonly MountedServer[],
  signal: AbortSignal,
  wait: (names: readonly string[]) => void,
): Promise<ToolsListed> {
  const waiting = new Set(servers.map(({ server }) => server.name));
  const timer = setTimeout(() => wait([...waiting]), tellAfterMs);
  const listed = servers.map(async (one) => {
    const tools = await one.tools(signal);
    waiting.delete(one.server.name);
    return tools;
  });
  try {
    const tools = (await Promise.all(listed)).flat();
    const missing = servers.flatMap((one) => {
      const reason = one.missing();
      return reason === undefined ? [] : { name: one.server.name, reason };
    });
    return { tools, missing };
  } finally {
    clearTimeout(timer);
  }
}

function waitingText(names: readonly string[], patienceMs: number): string {
  const which = `${names.length === 1 ? "the MCP server" : "the MCP servers"} ${names.join(", ")}`;
  return `Waiting for ${which} to start, for ${Math.round(patienceMs / 100) / 10} s at most.`;
}

/** Tokens of a tool's definition, each estimated once. */
function createSizes(): (tool: Tool) => number {
  const sizes = new WeakMap<Tool, number>();
  return (tool) => {
    const known = sizes.get(tool) ?? estimateTokens([], [tool]);
    sizes.set(tool, known);
    return known;
  };
}
