import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import { sanitizeLine } from "../../core/text/sanitize.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool, ToolContext, ToolResult } from "../../core/tools/tool.ts";
import type { ServerConnection } from "./connection/connection.ts";
import { createDeadline } from "./connection/deadline.ts";
import { mountedName } from "./servers/tool-name.ts";
import { type Contents, marked, resourceInWords, serverFailed, toResult } from "./to-result.ts";

type Work = (client: Parameters<Parameters<ServerConnection["use"]>[0]>[0], signal: AbortSignal) => Promise<ToolResult>;

/** Reads and lists a server's resources. Mounted if the server's entry enables it. */
export function readResourceTool(connection: ServerConnection): Tool {
  const { server } = connection;
  return defineTool({
    name: mountedName(server.name, "mcp_read_resource"),
    description: `Reads a resource of the MCP server ${server.name}. Without a uri it lists the resources there are.`,
    input: z.strictObject({
      uri: z.string().min(1).optional().describe("Which resource, as it was listed or linked."),
    }),
    effect: "pure",
    reach: { opens: "named" },
    run: ({ uri }, context) =>
      using(connection, context, async (client, signal) => {
        if (uri === undefined) {
          const { resources } = await client.listResources({}, { signal });
          const { resourceTemplates } = await client
            .listResourceTemplates({}, { signal })
            .catch(() => ({ resourceTemplates: [] }));
          return listed(server.name, [
            ...resources.map((one) => line(one.uri, one.description ?? one.title ?? one.name)),
            ...resourceTemplates.map((one) => line(one.uriTemplate, one.description ?? one.title ?? one.name)),
          ]);
        }
        const { contents } = await client.readResource({ uri }, { signal });
        const target = { server: server.name, tool: "resource", workspace: context.workspace };
        const parts: string[] = [];
        for (const one of contents) parts.push(await resourceInWords(one, target));
        return toResult({ content: [{ type: "text", text: parts.join("\n\n") }] }, target);
      }),
  });
}

/** Gets and lists a server's prompts. Mounted if the server's entry enables it. */
export function getPromptTool(connection: ServerConnection): Tool {
  const { server } = connection;
  return defineTool({
    name: mountedName(server.name, "mcp_get_prompt"),
    description: `Gets a prompt text that the MCP server ${server.name} has ready. Without a name it lists the prompts there are.`,
    input: z.strictObject({
      name: z.string().min(1).optional().describe("Which prompt, as it was listed."),
      arguments: z.record(z.string(), z.string()).default({}).describe("What the prompt wants filled in."),
    }),
    effect: "pure",
    reach: { opens: "named" },
    run: ({ name, arguments: args }, context) =>
      using(connection, context, async (client, signal) => {
        if (name === undefined) {
          const { prompts } = await client.listPrompts({}, { signal });
          return listed(
            server.name,
            prompts.map((one) => {
              const names = (one.arguments ?? []).map((each) => (each.required ? each.name : `${each.name}?`));
              return line(`${one.name}(${names.join(", ")})`, one.description ?? one.title ?? "");
            }),
          );
        }
        const { messages } = await client.getPrompt({ name, arguments: args }, { signal });
        const content = messages.flatMap((message) => [
          { type: "text" as const, text: `${message.role}:` },
          message.content,
        ]);
        return toResult({ content }, { server: server.name, tool: "prompt", workspace: context.workspace });
      }),
  });
}

async function using(connection: ServerConnection, context: ToolContext, work: Work): Promise<ToolResult> {
  const { name, timeout } = connection.server;
  const deadline = createDeadline(name, timeout, timeout, context.signal);
  try {
    return await connection.use((client) => work(client, deadline.signal), deadline.signal);
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof AppError) return serverFailed(name, error);
    throw error;
  } finally {
    deadline.end();
  }
}

function listed(server: string, lines: readonly string[]): ToolResult {
  const text = lines.length === 0 ? "There are none." : lines.join("\n");
  return { text: marked(server, text), isError: false };
}

function line(name: string, about: string): string {
  return `- ${sanitizeLine(name, 300)}${about === "" ? "" : `: ${sanitizeLine(about, 300)}`}`;
}

/**
 * Reads a resource through its server. Rejects with an AppError if the server has no resources or
 * fails, or with the signal's reason.
 */
export async function readResource(
  connection: ServerConnection,
  uri: string,
  signal: AbortSignal,
): Promise<readonly Contents[]> {
  const { name, timeout } = connection.server;
  const deadline = createDeadline(name, timeout, timeout, signal);
  try {
    return await connection.use(async (client) => {
      if (client.getServerCapabilities()?.resources === undefined)
        throw new AppError("unavailable", "it has no resources to read.");
      return (await client.readResource({ uri }, { signal: deadline.signal })).contents;
    }, deadline.signal);
  } finally {
    deadline.end();
  }
}
