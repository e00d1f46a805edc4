import {
  createMcpHandler,
  InMemoryServerEventBus,
  isLegacyRequest,
  ProtocolError,
  readRequestBody,
} from "@modelcontextprotocol/server";
import { type Caller, type Identify, requireScope, type Scope } from "../../core/caller.ts";
import { longestBody, refuseBrokenOff, refusePacked, tooLarge } from "../../http/request-body.ts";
import { untilRevoked } from "../../http/until-revoked.ts";
import { contextNamed } from "./call-run.ts";
import { mcpServer } from "./mcp-server.ts";
import { listTools } from "./serve-tools.ts";
import { type McpServerDeps, promptsOf } from "./serving.ts";
import { createSessions, type SessionsDeps } from "./sessions.ts";

/** What the MCP adapter needs. */
export type McpAdapterDeps = McpServerDeps & {
  readonly identify: Identify;
  readonly sessions?: Pick<SessionsDeps, "awayMs" | "idleMs">;
  /** Milliseconds between two checks whether the lists that clients have read changed. */
  readonly listMs?: number;
};

/** Answers a request. Rejects like `identify`, and with `invalid_input`. */
export type McpAdapter = (request: Request, body?: unknown) => Promise<Response>;

/**
 * `/mcp`: the server over streamable HTTP, in the 2026-07-28 revision and those of 2025, which have
 * sessions. A caller may name its conversation in the `Manyhands-Context` header. `body` is the
 * request's parsed body, if it was read already.
 */
export function mcpAdapter(deps: McpAdapterDeps): McpAdapter {
  const { report } = deps;
  // Agents come and go while clients are connected.
  const served = { ...deps, listChanged: true };
  const bus = new InMemoryServerEventBus(report);
  const handler = createMcpHandler(({ era, authInfo }) => mcpServer(served, era, authInfo?.clientId ?? ""), {
    maxRequestBodySize: longestBody,
    bus,
    onerror: (error) => isClients(error) || report(error),
  });
  const serverFor = (principal: string) => mcpServer(served, "legacy", principal);
  const sessions = createSessions({ serverFor, report, ...deps.sessions });
  const lists = createListWatch({
    lists: () => [listTools(deps), promptsOf(deps).list()],
    hasListeners: () => bus.listenerCount + sessions.size() > 0,
    changed() {
      handler.notify.toolsChanged();
      handler.notify.promptsChanged();
      sessions.listsChanged();
    },
    everyMs: deps.listMs ?? 2_000,
  });
  const answerTo = async (request: Request, body: unknown, { principal, scopes }: Caller): Promise<Response> => {
    if (await isLegacyRequest(request, body)) {
      const answer = sessions.answer(request, body, principal);
      if (answer !== undefined) return answer;
    }
    const parsed = body === undefined ? {} : { parsedBody: body };
    return handler.fetch(request, { authInfo: { token: "", clientId: principal, scopes: [...scopes] }, ...parsed });
  };
  return async (given, already) => {
    const caller = await deps.identify(given);
    contextNamed(given);
    lists.wake();
    const { request, body } = already === undefined ? await read(given) : { request: given, body: already };
    const scope = scopeOf(body);
    requireScope(caller, scope);
    const answer = await answerTo(request, body, caller);
    // To leave the stream of a call would give it up.
    return scope === "read" ? untilRevoked(answer, caller.isStillValid) : answer;
  };
}

/** Calling a tool starts something; everything else, a session's requests included, reads. */
function scopeOf(body: unknown): Scope {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  return messages.some(isCall) ? "run" : "read";
}

function isCall(message: unknown): boolean {
  return typeof message === "object" && message !== null && "method" in message && message.method === "tools/call";
}

/** A client's mistake is reported to the client, not as a bug. */
function isClients(error: Error): boolean {
  return error instanceof ProtocolError || /^(?:Rejected|Unsupported Media Type)/.test(error.message);
}

/**
 * Reads a request's body; undefined if it is not JSON, which the protocol's own code reports to the
 * client.
 */
async function read(request: Request): Promise<{ request: Request; body: unknown }> {
  if (request.method !== "POST") return { request, body: undefined };
  refusePacked(request.headers);
  const read = await readRequestBody(request, longestBody).catch((error: unknown) => {
    refuseBrokenOff(error);
    throw error;
  });
  if (read.tooLarge) tooLarge();
  try {
    return { request, body: JSON.parse(read.text) };
  } catch {
    return { request: new Request(request, { body: read.text }), body: undefined };
  }
}

/** Detects changes of the lists while any client is there to be notified. */
export interface ListWatch {
  /** Starts checking, unless it already does. */
  wake(): void;
}

type ListWatchDeps = {
  /** The current lists. */
  lists(): unknown;
  /** Whether any client would be notified of a change. */
  hasListeners(): boolean;
  changed(): void;
  readonly everyMs: number;
};

/** Creates one that is not checking yet. */
function createListWatch({ lists, hasListeners, changed, everyMs }: ListWatchDeps): ListWatch {
  let known = "";
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    if (!hasListeners()) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    const now = JSON.stringify(lists());
    if (now === known) return;
    known = now;
    changed();
  };
  return {
    wake() {
      if (timer !== undefined) return;
      known = JSON.stringify(lists());
      timer = setInterval(look, everyMs);
      timer.unref();
    },
  };
}
