import { createMcpHandler, isLegacyRequest, ProtocolError, readRequestBody } from "@modelcontextprotocol/server";
import { AppError } from "../errors.ts";
import { contextNamed } from "./context-header.ts";
import { type McpServerDeps, mcpServer } from "./mcp-server.ts";
import { createSessions, type SessionsDeps } from "./sessions.ts";

/** What the MCP face needs. */
export type McpFaceDeps = McpServerDeps & {
  readonly identify: (request: Request) => Promise<string> | string;
  readonly sessions?: Pick<SessionsDeps, "awayMs" | "idleMs">;
};

/** Answers a request. Rejects as `identify` does, and with `invalid_input`. */
export type McpFace = (request: Request, body?: unknown) => Promise<Response>;

const largestBody = 10 * 1024 * 1024;

/**
 * `/mcp`: the server over streamable HTTP, in the 2026-07-28 revision and those of 2025, which have sessions. A caller may name its conversation by
 * the header `Manyhands-Context`. `body` is the request's, parsed, where it has been read already.
 */
export function mcpFace(deps: McpFaceDeps): McpFace {
  const { report } = deps;
  const handler = createMcpHandler(({ era, authInfo }) => mcpServer(deps, era, authInfo?.clientId ?? ""), {
    maxRequestBodySize: largestBody,
    onerror: (error) => isClients(error) || report(error),
  });
  const sessions = createSessions({
    serverFor: (principal) => mcpServer(deps, "legacy", principal),
    report,
    ...deps.sessions,
  });
  return async (given, already) => {
    const principal = await deps.identify(given);
    contextNamed(given);
    const { request, body } = already === undefined ? await read(given) : { request: given, body: already };
    if (await isLegacyRequest(request, body)) {
      const answer = sessions.answer(request, body, principal);
      if (answer !== undefined) return answer;
    }
    const parsed = body === undefined ? {} : { parsedBody: body };
    return handler.fetch(request, { authInfo: { token: "", clientId: principal, scopes: [] }, ...parsed });
  };
}

/** What a client did wrong is told to the client, and no bug. */
function isClients(error: Error): boolean {
  return error instanceof ProtocolError || error.message.startsWith("Rejected inbound request");
}

/** Reads a request's body; undefined where it is no JSON, of which the protocol's own code tells the client. */
async function read(request: Request): Promise<{ request: Request; body: unknown }> {
  if (request.method !== "POST") return { request, body: undefined };
  const read = await readRequestBody(request, largestBody);
  if (read.tooLarge) throw new AppError("too_large", `A request has at most ${largestBody} bytes.`);
  try {
    return { request, body: JSON.parse(read.text) };
  } catch {
    return { request: new Request(request, { body: read.text }), body: undefined };
  }
}
