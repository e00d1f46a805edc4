import type { Tool as Definition } from "@modelcontextprotocol/client";
import { AppError } from "../../core/errors.ts";
import { failure, type Tool } from "../../core/tools/tool.ts";
import type { ServerConnection } from "./connection/connection.ts";
import { mountTool } from "./mount-tool.ts";
import type { ToolPins } from "./pins.ts";
import type { RememberedTools } from "./remembered-tools.ts";
import { getPromptTool, readResourceTool } from "./resource-tools.ts";
import type { ServerConfig } from "./servers/server-config.ts";
import type { SuspendedCalls } from "./suspended-calls.ts";
import { serverFailed } from "./to-result.ts";

/** A server's tools whose current definition is the approved one. */
export type ApprovedTools = {
  /**
   * The approved tools among the server's current definitions. Never rejects; tools that cannot be
   * checked are left out.
   */
  mount(definitions: readonly Definition[]): Promise<readonly Tool[]>;
  /** The tools known without asking the server: as last seen, in this process or the one before. */
  before(): Promise<readonly Tool[]>;
  /** How many tools there are; undefined if the server has not answered yet. */
  count(): number | undefined;
  /** Tools left out because their definition is no longer the approved one. */
  disabled(): readonly string[];
};

type Deps = {
  readonly pins: ToolPins;
  readonly remembered: RememberedTools;
  readonly log: { warn(fields: object, message: string): void };
};

/** Creates the list; nothing is known yet. */
export function approvedTools(
  connection: ServerConnection,
  held: SuspendedCalls,
  { pins, remembered, log }: Deps,
): ApprovedTools {
  const { server } = connection;
  let known:
    | { readonly from: readonly Definition[]; readonly pinned: string; readonly tools: readonly Tool[] }
    | undefined;
  let disabled: readonly string[] = [];
  const check = async (definitions: readonly Definition[]) => {
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
    known = { from: definitions, pinned: await pins.version(), tools: [...tools, ...ownTools(connection, tools)] };
    await remembered.write(server, definitions).catch((error: unknown) => {
      log.warn({ server: server.name, err: error }, "what an MCP server defines could not be kept for the next start");
    });
    return known.tools;
  };
  const mount: ApprovedTools["mount"] = (definitions) => check(definitions).catch(unchecked);
  const unchecked = (error: unknown) => {
    // If the pins cannot be read, no tool counts as approved.
    log.warn({ server: server.name, err: error }, "an MCP server's tools cannot be checked; they are left out");
    return [];
  };
  /**
   * The tools as approved and last seen. A call waits until the server reports its current
   * definitions.
   */
  const lastTime = async (): Promise<readonly Tool[]> => {
    const definitions = (await remembered.read(server)) ?? [];
    const allowed = definitions.filter(({ name }) => isAllowed(name, server));
    const tools = (await pins.approved(server, allowed)).map((one) => mountTool(one, connection, held));
    return tools.map((tool) => ({
      ...tool,
      async call(input, context) {
        try {
          const now = await mount(await connection.tools(context.signal));
          const same = now.find(({ name }) => name === tool.name);
          if (same !== undefined) return await same.call(input, context);
          return failure(`${server.name} no longer has ${tool.name} as it was approved.`);
        } catch (error) {
          context.signal.throwIfAborted();
          if (error instanceof AppError) return serverFailed(server.name, error);
          throw error;
        }
      },
    }));
  };
  return {
    mount,
    before: async () => known?.tools ?? (await lastTime().catch(unchecked)),
    count: () => known?.tools.length,
    disabled: () => disabled,
  };
}

/**
 * Our tools for the server's resources and prompts, if its entry enables them and the server has no
 * tool of that name.
 */
function ownTools(connection: ServerConnection, tools: readonly Tool[]): readonly Tool[] {
  const { resources, prompts } = connection.server;
  const all = [...(resources ? [readResourceTool(connection)] : []), ...(prompts ? [getPromptTool(connection)] : [])];
  return all.filter(({ name }) => !tools.some((tool) => tool.name === name));
}

/** Whether to mount a server's tool, by the allow and deny lists of its entry. */
function isAllowed(tool: string, { tools: { allow, deny } }: ServerConfig): boolean {
  const covers = (pattern: string) =>
    pattern.endsWith("*") ? tool.startsWith(pattern.slice(0, -1)) : tool === pattern;
  return !deny.some(covers) && (allow === undefined || allow.some(covers));
}
