import * as z from "zod";
import type { McpSettings } from "../../settings/mcp-settings.ts";
import type { RestEndpoint } from "../endpoint.ts";
import { operatorEndpoint } from "./operator-endpoint.ts";

const name = z.string().min(1).max(64);
const params = z.object({ name });

const serverSchema = z
  .object({
    name: z.string(),
    kind: z.enum(["program", "http", "sse"]),
    command: z.string().describe("Its command or URL."),
    enabled: z.boolean(),
    sandboxed: z.boolean().exactOptional().describe("Whether its program is confined."),
    agents: z.array(z.string()).describe("The agents that have its tools."),
    signIn: z
      .object({ state: z.enum(["waiting", "done", "failed"]), error: z.string().exactOptional() })
      .exactOptional()
      .describe("The last sign-in begun here."),
  })
  .meta({ id: "McpServer" });

const inspectedSchema = z
  .object({
    state: z.enum(["ready", "sign-in-needed", "failed"]),
    protocol: z.string().exactOptional(),
    milliseconds: z.int(),
    tools: z.array(
      z.object({
        name: z.string(),
        description: z.string(),
        changed: z.boolean().describe("Agents cannot call it until its definition is approved."),
        input: z.record(z.string(), z.json()).exactOptional().describe("The JSON Schema to approve."),
      }),
    ),
    invalid: z.array(z.string()).describe("Tools left out because their definition is invalid, each with why."),
    seen: z.string().exactOptional().describe("Stands for exactly these definitions."),
    error: z.string().exactOptional(),
  })
  .meta({ id: "InspectedMcpServer" });

/** `/settings/mcp-servers` and the routes below it. */
export function mcpServerRoutes(mcp: McpSettings): RestEndpoint[] {
  return [list(mcp), add(mcp), remove(mcp), enable(mcp), inspect(mcp), approve(mcp), signIn(mcp)];
}

const listed = { description: "The servers.", body: z.object({ servers: z.array(serverSchema) }) };

function list(mcp: McpSettings): RestEndpoint {
  const about = {
    method: "get",
    path: "/settings/mcp-servers",
    summary: "The MCP servers of mcp.json",
    request: {},
    answers: { 200: listed },
    problems: [],
  } as const;
  return operatorEndpoint(about, async (_, c) => c.json({ servers: await mcp.list() }));
}

function add(mcp: McpSettings): RestEndpoint {
  const body = z.strictObject({
    name,
    entry: z.record(z.string(), z.json()).describe("As in mcp.json: a `command` with `args`, or a `url`."),
  });
  const about = {
    method: "post",
    path: "/settings/mcp-servers",
    summary: "Adds an MCP server",
    description: "Agents use it from their next turn on. A program runs in the sandbox.",
    request: { body },
    answers: { 201: listed },
    problems: [409],
  } as const;
  return operatorEndpoint(about, async ({ body }, c) => {
    await mcp.add(body.name, body.entry);
    return c.json({ servers: await mcp.list() }, 201);
  });
}

function remove(mcp: McpSettings): RestEndpoint {
  const about = {
    method: "delete",
    path: "/settings/mcp-servers/{name}",
    summary: "Removes an MCP server",
    request: { params },
    answers: { 204: { description: "Removed; running tasks lose its tools." } },
    problems: [404],
  } as const;
  return operatorEndpoint(about, async ({ params }, c) => {
    await mcp.remove(params.name);
    return c.body(null, 204);
  });
}

function enable(mcp: McpSettings): RestEndpoint {
  const about = {
    method: "post",
    path: "/settings/mcp-servers/{name}/enable",
    summary: "Enables or disables an MCP server",
    request: { params, body: z.strictObject({ enabled: z.boolean() }) },
    answers: { 200: listed },
    problems: [404],
  } as const;
  return operatorEndpoint(about, async ({ params, body }, c) => {
    await mcp.enable(params.name, body.enabled);
    return c.json({ servers: await mcp.list() });
  });
}

function inspect(mcp: McpSettings): RestEndpoint {
  const about = {
    method: "post",
    path: "/settings/mcp-servers/{name}/test",
    summary: "Connects to an MCP server as an agent does, and shows its tools",
    request: { params },
    answers: { 200: { description: "What it offers; a failure too.", body: inspectedSchema } },
    problems: [404],
  } as const;
  return operatorEndpoint(about, async ({ params }, c) => c.json(await mcp.inspect(params.name, c.req.raw.signal)));
}

function approve(mcp: McpSettings): RestEndpoint {
  const body = z.strictObject({ seen: z.string().min(1).max(100).describe("From the test that showed them.") });
  const about = {
    method: "post",
    path: "/settings/mcp-servers/{name}/approve",
    summary: "Approves the definitions that a test showed",
    request: { params, body },
    answers: { 200: { description: "How many tools are approved.", body: z.object({ tools: z.int() }) } },
    problems: [404, 409, 502, 504],
  } as const;
  return operatorEndpoint(about, async ({ params, body }, c) =>
    c.json({ tools: await mcp.approve(params.name, body.seen, c.req.raw.signal) }),
  );
}

function signIn(mcp: McpSettings): RestEndpoint {
  const about = {
    method: "post",
    path: "/settings/mcp-servers/{name}/sign-in",
    summary: "Begins to sign you in to an MCP server",
    description:
      "Open the address in a browser on the gateway's machine within five minutes; it returns to a port of loopback there. The list of servers says how it went.",
    request: { params },
    answers: { 202: { description: "The address to open.", body: z.object({ address: z.string() }) } },
    problems: [404, 409, 502],
  } as const;
  return operatorEndpoint(about, async ({ params }, c) =>
    c.json({ address: await mcp.signIn(params.name, c.get("caller").principal) }, 202),
  );
}
