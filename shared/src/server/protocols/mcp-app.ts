import { Hono } from "hono";
import * as z from "zod";
import { httpJsonFailure } from "../../a2a/server/http-json.ts";
import { AppFailure } from "../../a2a/wire-error.ts";
import type { AgentConfig } from "../../config/agents/agent-config.ts";
import { type Identify, requireScope } from "../../core/caller.ts";
import { AppError } from "../../core/errors.ts";
import { jsonOf } from "../../core/json.ts";
import type { KeptText } from "../../core/text/kept-text.ts";
import { bodyOf, jsonBody } from "../../http/request-body.ts";
import type { AddedServer, ServerChanges } from "../../mcp/client/change-servers.ts";
import type { McpAdapter } from "../../mcp/server/mcp-adapter.ts";
import { requireMountKey } from "./mount-key.ts";

/** What an agent needs to answer below `/mcp`. */
export type McpAppDeps = {
  readonly agent: string;
  /** The servers whose tools it has. */
  readonly servers: AgentConfig["mcp"];
  readonly host: ServerChanges;
  /** The key that callers who change the servers need. */
  readonly mountKey: KeptText;
  readonly identify: Identify;
  /** Answers as an MCP server. */
  readonly adapter: McpAdapter | undefined;
  /** Receives unexpected errors. */
  readonly report: (bug: unknown) => void;
  readonly log: { info(fields: object, message: string): void };
};

/**
 * With the home's key, `POST /mcp` with entries as in `mcp.json` adds or replaces servers, and
 * `DELETE /mcp/{name}` removes one. Every other request to `/mcp` is for the agent's own MCP
 * server.
 */
export function mcpApp(deps: McpAppDeps): Hono {
  const { host, mountKey, identify, log, adapter, report } = deps;
  const app = new Hono({ strict: false });
  app.onError((error) => httpJsonFailure(error instanceof AppError ? new AppFailure(error) : error, report));
  app.post("/mcp", async (c) => {
    const caller = await identify(c.req.raw);
    const text = new TextDecoder().decode(await bodyOf(c));
    // The MCP server itself reports what is not JSON.
    const body = jsonOf(text);
    if (!isMount(body)) return answer(adapter, new Request(c.req.raw, { body: text }), body);
    await jsonBody(c, async () => undefined);
    requireScope(caller, "admin");
    await requireMountKey(c.req.raw, mountKey);
    const entries = checked(body, deps);
    const added = await host.add(entries, c.req.raw.signal);
    log.info({ servers: Object.keys(entries) }, "MCP servers were added by request");
    return c.json({ servers: added.map(shown) }, added.every(({ replaced }) => replaced) ? 200 : 201);
  });
  app.delete("/mcp/:name", async (c) => {
    requireScope(await identify(c.req.raw), "admin");
    await requireMountKey(c.req.raw, mountKey);
    const { name } = c.req.param();
    await host.remove(name);
    log.info({ servers: [name] }, "an MCP server was removed by request");
    return c.body(null, 204);
  });
  app.all("/mcp", (c) => answer(adapter, c.req.raw));
  return app;
}

function answer(adapter: McpAdapter | undefined, request: Request, body?: unknown): Promise<Response> {
  if (adapter === undefined)
    throw new AppError("not_found", "This agent is not an MCP server: `serve_mcp` makes it one.");
  return adapter(request, body);
}

/** Whether it is a message of MCP. */
function isMount(body: unknown): body is { mcpServers: unknown } {
  return typeof body === "object" && body !== null && "mcpServers" in body && !("jsonrpc" in body);
}

const mountBody = z.strictObject({ mcpServers: z.record(z.string(), z.record(z.string(), z.unknown())) });

/**
 * The entries of a body. Throws `invalid_input`, or `conflict` for a server whose tools the agent
 * does not use.
 */
function checked(body: unknown, { agent, servers: wanted }: McpAppDeps) {
  const result = mountBody.safeParse(body);
  if (!result.success || Object.keys(result.data.mcpServers).length === 0)
    throw new AppError("invalid_input", 'Send {"mcpServers": {NAME: {…}}} with one entry or more, as in mcp.json.');
  const { mcpServers } = result.data;
  const foreign = wanted === "all" ? undefined : Object.keys(mcpServers).find((name) => !wanted.includes(name));
  if (foreign === undefined) return mcpServers;
  throw new AppError(
    "conflict",
    `${agent} would not have the tools of ${JSON.stringify(foreign)}: [agents.${agent}] mcp has to name it, or all with "*".`,
  );
}

/** A server's health, without its entry, which may hold secrets. */
function shown({ name, replaced, health }: AddedServer): object {
  if (health === "off") return { name, replaced, state: "disabled", tools: 0 };
  const { state, tools, disabled, version, invalid, error } = health;
  return {
    name,
    replaced,
    state: stateOf(state, disabled),
    tools,
    ...(version !== undefined && { version }),
    ...(disabled.length > 0 && { awaitingApproval: disabled }),
    ...(invalid !== undefined && { invalid }),
    ...(error !== undefined && { error }),
  };
}

function stateOf(state: string, disabled: readonly string[]): string {
  if (state === "ready") return disabled.length > 0 ? "approval-pending" : "connected";
  return state === "failed" ? "error" : "connecting";
}
