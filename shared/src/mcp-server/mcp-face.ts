import { createMcpHandler } from "@modelcontextprotocol/server";
import { AppError } from "../errors.ts";
import { type McpServerDeps, mcpServer } from "./mcp-server.ts";

/** What the MCP face needs. */
export type McpFaceDeps = McpServerDeps & {
  readonly identify: (request: Request) => Promise<string> | string;
};

/** Answers a request. Rejects as `identify` does, and with `invalid_input`. */
export type McpFace = (request: Request, body?: unknown) => Promise<Response>;

const largestBody = 10 * 1024 * 1024;
const longestContext = 200;

/**
 * `/mcp`: the server over streamable HTTP, in the 2026-07-28 revision and those of 2025. A caller may name its conversation by the header
 * `Manyhands-Context`. `body` is the request's, parsed, where it has been read already.
 */
export function mcpFace(deps: McpFaceDeps): McpFace {
  const handler = createMcpHandler(
    ({ era, authInfo, requestInfo }) =>
      mcpServer(deps, era, { principal: authInfo?.clientId ?? "", contextId: contextOf(requestInfo) }),
    { maxRequestBodySize: largestBody, onerror: (error) => deps.report(error) },
  );
  return async (request, body) => {
    const principal = await deps.identify(request);
    contextOf(request);
    const parsed = body === undefined ? {} : { parsedBody: body };
    return handler.fetch(request, { authInfo: { token: "", clientId: principal, scopes: [] }, ...parsed });
  };
}

function contextOf(request: Request | undefined): string | undefined {
  const context = request?.headers.get("Manyhands-Context") ?? undefined;
  if (context === undefined || (context !== "" && context.length <= longestContext)) return context;
  throw new AppError("invalid_input", `Manyhands-Context has 1 to ${longestContext} characters.`);
}
