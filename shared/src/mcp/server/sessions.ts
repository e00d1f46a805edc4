import {
  isInitializeRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { AppError } from "../../core/errors.ts";
import { createEventMemory } from "./event-memory.ts";

export type SessionsDeps = {
  serverFor(principal: string): McpServer;
  readonly report: (bug: unknown) => void;
  /**
   * How long a client that left in the middle of a call may be away, and one that has nothing under
   * way, in milliseconds.
   */
  readonly awayMs?: number;
  readonly idleMs?: number;
};

/**
 * Connections of clients of 2025 revisions that last from one request to the next, so that they can
 * be asked something.
 */
export interface Sessions {
  /**
   * Answers what begins a session or belongs to one; undefined for anything else. `body` is the
   * request's.
   */
  answer(request: Request, body: unknown, principal: string): Promise<Response> | undefined;
  size(): number;
  /** Tells every client that its lists of tools and prompts are others now. */
  listsChanged(): void;
}

const most = 1_000;
const retryMs = 1_000;

/** A client that keeps its connections open is there for as long as that. */
type Session = {
  readonly principal: string;
  readonly server: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Answers it is reading. */
  open: number;
  timer?: NodeJS.Timeout;
};

/** Makes a place for sessions; they live in this process only. */
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
      // Another's session is as unknown as one that never was.
      if (session?.principal !== principal) return Promise.resolve(unknown());
      // The one used last is the last to go.
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

/** The one that has been still for longest goes; where all are in use, nobody comes in. */
function makeRoom(sessions: Map<string, Session>): void {
  if (sessions.size < most) return;
  const still = [...sessions.values()].find(({ open }) => open === 0);
  if (still === undefined) throw new AppError("rate_limited", "There are too many MCP sessions.");
  void still.transport.close();
}

function unknown(): Response {
  const error = { code: -32001, message: "There is no such session. Begin one with initialize." };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 404 });
}

/**
 * The response, and one call when its body has been read to the end (`true`) or been left
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
