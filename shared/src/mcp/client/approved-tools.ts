import type { Tool as Definition } from "@modelcontextprotocol/client";
import { AppError } from "../../core/errors.ts";
import { failure, type Tool } from "../../core/tool.ts";
import type { Connection } from "./connection/connection.ts";
import { mountTool } from "./mount-tool.ts";
import type { Pins } from "./pins.ts";
import type { RememberedTools } from "./remembered-tools.ts";
import { getPromptTool, readResourceTool } from "./resource-tools.ts";
import type { ServerConfig } from "./servers/server-config.ts";
import type { SuspendedCalls } from "./suspended-calls.ts";

/** A server's tools whose definition is the approved one. */
export type ApprovedTools = {
  /** Those among what the server defines now. Rejects never: what cannot be checked is left out. */
  mount(definitions: readonly Definition[]): Promise<readonly Tool[]>;
  /** Those that are known without asking: as they last were, in this process or the one before. */
  before(): Promise<readonly Tool[]>;
  /** How many there are; undefined where the server has not said yet. */
  count(): number | undefined;
  /** Tools that are left out, since their definition is another one than was approved. */
  disabled(): readonly string[];
};

type Deps = {
  readonly pins: Pins;
  readonly remembered: RememberedTools;
  readonly log: { warn(fields: object, message: string): void };
};

/** Nothing is known yet. */
export function approvedTools(
  connection: Connection,
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
    // Without its pins nothing of it is approved.
    log.warn({ server: server.name, err: error }, "an MCP server's tools cannot be checked; they are left out");
    return [];
  };
  /**
   * As they were approved and last seen. A call waits until the server has said what they are now.
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
          if (error instanceof AppError) return failure(error.message);
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
 * Our tools for what else a server has, where its entry wants them and no tool of its own has their
 * name.
 */
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
