import { createMcpHandler } from "@modelcontextprotocol/server";
import type { Context } from "hono";
import { AppError } from "../errors.ts";
import { type McpServerDeps, mcpServer } from "./mcp-server.ts";

/** What the MCP face needs. */
export type McpFaceDeps = McpServerDeps & {
  readonly identify: (request: Request) => Promise<string> | string;
};

const largestBody = 10 * 1024 * 1024;
const longestContext = 200;

/**
 * `/mcp`: the server over streamable HTTP, in the 2026-07-28 revision and those of 2025. A caller may name its conversation by the header
 * `Manyhands-Context`.
 */
export function mcpFace(deps: McpFaceDeps): (c: Context) => Promise<Response> {
  const handler = createMcpHandler(
    ({ era, authInfo, requestInfo }) =>
      mcpServer(deps, era, { principal: authInfo?.clientId ?? "", contextId: contextOf(requestInfo) }),
    { maxRequestBodySize: largestBody, onerror: (error) => deps.report(error) },
  );
  return async (c) => {
    const principal = await deps.identify(c.req.raw);
    contextOf(c.req.raw);
    return handler.fetch(c.req.raw, { authInfo: { token: "", clientId: principal, scopes: [] } });
  };
}

function contextOf(request: Request | undefined): string | undefined {
  const context = request?.headers.get("Manyhands-Context") ?? undefined;
  if (context === undefined || (context !== "" && context.length <= longestContext)) return context;
  throw new AppError("invalid_input", `Manyhands-Context has 1 to ${longestContext} characters.`);
}
