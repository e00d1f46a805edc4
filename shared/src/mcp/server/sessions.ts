import {
  isInitializeRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { AppError } from "../../core/errors.ts";
import { createEventMemory } from "./event-memory.ts";

/** What serves the sessions, and how long they are kept. */
export type SessionsDeps = {
  serverFor(principal: string): McpServer;
  readonly report: (bug: unknown) => void;
  /**
   * How long a client may be away in milliseconds: `awayMs` after leaving in the middle of a call,
   * `idleMs` with nothing under way.
   */
  readonly awayMs?: number;
  readonly idleMs?: number;
};

/**
 * Connections of clients of 2025 revisions that last from one request to the next, so that the
 * clients can be asked something.
 */
export interface Sessions {
  /**
   * Answers requests that start or belong to a session; undefined for all others. `body` is the
   * request's parsed body.
   */
  answer(request: Request, body: unknown, principal: string): Promise<Response> | undefined;
  size(): number;
  /** Notifies every client that its lists of tools and prompts changed. */
  listsChanged(): void;
}

const most = 1_000;
const retryMs = 1_000;

/** A session lasts while its client keeps connections open. */
type Session = {
  readonly principal: string;
  readonly server: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** The number of answers being read. */
  open: number;
  timer?: NodeJS.Timeout;
};

/** Creates an empty set of sessions, which exist in this process only. */
export function createSessions(deps: SessionsDeps): Sessions {
  const { serverFor, report, awayMs = 10_000, idleMs = 60 * 60_000 } = deps;
  const sessions = new Map<string, Session>();
  const memory = createEventMemory();
  const rest = (session: Session, left: boolean) => {
    clearTimeout(session.timer);
    if (session.open > 0) return;
    session.timer = setTimeout(() => void session.transport.close().catch(report), left ? awayMs : idleMs);
    session.timer.unref();
  };
  const begin = async (principal: string): Promise<Session> => {
    makeRoom(sessions);
    const events = memory.open();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, session),
      eventStore: events,
      retryInterval: retryMs,
    });
    const server = serverFor(principal);
    const session: Session = { principal, server, transport, open: 0 };
    await server.connect(transport);
    const closed = server.server.onclose;
    server.server.onclose = () => {
      clearTimeout(session.timer);
      sessions.delete(transport.sessionId ?? "");
      events[Symbol.dispose]();
      closed?.();
    };
    return session;
  };
  const answerIn = async (session: Session, request: Request, body: unknown): Promise<Response> => {
    clearTimeout(session.timer);
    session.open++;
    const ended = (read: boolean) => {
      session.open--;
      rest(session, !read);
    };
    try {
      return watchedBody(await session.transport.handleRequest(request, { parsedBody: body }), ended);
    } catch (error) {
      ended(false);
      throw error;
    }
  };
  return {
    answer(request, body, principal) {
      const id = request.headers.get("mcp-session-id");
      if (id === null) {
        if (!isInitializeRequest(body)) return undefined;
        return begin(principal).then((session) => answerIn(session, request, body));
      }
      const session = sessions.get(id);
      // Another principal's session is as unknown as one that never existed.
      if (session?.principal !== principal) return Promise.resolve(unknown());
      // Moves the session to the end: the most recently used one is closed last.
      sessions.delete(id);
      sessions.set(id, session);
      return answerIn(session, request, body);
    },
    size: () => sessions.size,
    listsChanged() {
      for (const { server } of [...sessions.values()].map((session) => session.server))
        Promise.all([server.sendToolListChanged(), server.sendPromptListChanged()]).catch(report);
    },
  };
}

/**
 * Closes the session that has been idle for longest among those of the principal with most, so that
 * nobody can end another's sessions by starting many. Rejects new sessions if all of those are in
 * use.
 */
function makeRoom(sessions: Map<string, Session>): void {
  if (sessions.size < most) return;
  const held = [...Map.groupBy(sessions.values(), ({ principal }) => principal).values()];
  const [largest = []] = held.sort((one, other) => other.length - one.length);
  const still = largest.find(({ open }) => open === 0);
  if (still === undefined) throw new AppError("rate_limited", "There are too many MCP sessions.");
  void still.transport.close();
}

function unknown(): Response {
  const error = { code: -32001, message: "There is no such session. Begin one with initialize." };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 404 });
}

/**
 * The response, with a callback when its body has been read to the end (`true`) or abandoned
 * (`false`).
 */
function watchedBody(response: Response, ended: (read: boolean) => void): Response {
  const { body, status, headers } = response;
  if (body === null) {
    ended(true);
    return response;
  }
  const reader = body.getReader();
  let left = false;
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        if (!left) ended(false);
        throw error;
      });
      if (left) return;
      if (!done) return controller.enqueue(value);
      ended(true);
      controller.close();
    },
    async cancel(reason) {
      left = true;
      ended(false);
      await reader.cancel(reason);
    },
  });
  return new Response(watched, { status, headers });
}
