import type { Tool as Definition, ToolAnnotations } from "@modelcontextprotocol/client";
import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import type { Effect } from "../../core/runs/run.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { failure, type Tool } from "../../core/tools/tool.ts";
import { callServer } from "./call-server.ts";
import type { ServerConnection } from "./connection/connection.ts";
import { readResource } from "./resource-tools.ts";
import type { ServerConfig } from "./servers/server-config.ts";
import { mountedName } from "./servers/tool-name.ts";
import type { SuspendedCalls } from "./suspended-calls.ts";
import { serverFailed, toResult } from "./to-result.ts";

const longestDescription = 8_000;
const object = z.record(z.string(), z.unknown());

/**
 * A server's tool as ours, under `server__tool`, with the server's schema unchanged. The server's
 * annotations decide what a repetition would do and, with its entry, whether a person is asked; the
 * description is marked as the server's words.
 */
export function mountTool(definition: Definition, connection: ServerConnection, held: SuspendedCalls): Tool {
  const { server } = connection;
  const { inputSchema, annotations, description = definition.title ?? "" } = definition;
  const name = mountedName(server.name, definition.name);
  const risk = riskOf(server, definition.name, annotations);
  return {
    name,
    description: `[MCP server ${server.name}] ${sanitize(description).slice(0, longestDescription).toWellFormed()}`,
    inputSchema,
    effect: () => effectOf(annotations),
    reach: { opens: "named" },
    // What its input means is up to the server, and may change with every call.
    sameKind: () => undefined,
    ...(risk !== undefined && { risk: async () => risk }),
    async call(input, context) {
      const args = object.safeParse(input ?? {});
      if (!args.success) return failure(`The arguments of ${name} must be an object.`);
      try {
        const outcome = await callServer({ connection, definition, arguments: args.data, held }, context);
        if (outcome.type === "asks") return { text: "", isError: false, asks: outcome };
        return await toResult(outcome.result, {
          server: server.name,
          tool: definition.name,
          workspace: context.workspace,
          read: (uri) => readResource(connection, uri, context.signal),
        });
      } catch (error) {
        context.signal.throwIfAborted();
        if (error instanceof AppError) return serverFailed(server.name, error);
        throw error;
      }
    },
  };
}

/**
 * `once` unless the server's annotations say otherwise. A read-only tool may be called in parallel
 * with others.
 */
function effectOf(annotations: ToolAnnotations | undefined): Effect {
  if (annotations?.readOnlyHint === true) return "pure";
  return annotations?.idempotentHint === true ? "idempotent" : "once";
}

function riskOf(server: ServerConfig, tool: string, annotations: ToolAnnotations = {}): string | undefined {
  const { readOnlyHint, destructiveHint, openWorldHint } = annotations;
  const what = `This calls ${JSON.stringify(sanitize(tool))} of the MCP server ${JSON.stringify(server.name)}`;
  const said = destructiveHint === true ? "may destroy or overwrite something" : "may change something";
  if (server.approve === "never") return undefined;
  if (server.approve === "always") return `${what}.`;
  if (readOnlyHint === true) return undefined;
  if (server.approve === "writes") return `${what}, which ${said}.`;
  if (destructiveHint === true) return `${what}, which says that it ${said}.`;
  return openWorldHint === true
    ? `${what}, which says that it reaches out into the world and changes something there.`
    : undefined;
}
