import {
  type AuthProvider,
  Client,
  type ClientCapabilities,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { AppError } from "../../../core/errors.ts";
import { version } from "../../../core/release.ts";
import type { Egress } from "../../../machine/egress/egress.ts";
import { isProgram, type ProgramServer, type RemoteServer, type ServerConfig } from "../servers/server-config.ts";
import { httpFetch } from "./http-fetch.ts";
import { leaveOutInvalid } from "./invalid-tools.ts";
import { type ProgramDeps, startProgram } from "./start-program.ts";
import { createStdioTransport } from "./stdio-transport.ts";

/**
 * A connected client. `ending` explains why its connection ended, if it has and the reason is
 * known.
 */
export type ConnectedClient = { readonly client: Client; ending(): string | undefined };

/** What connecting to servers needs. */
export type ConnectDeps = ProgramDeps & {
  /**
   * How long tasks wait for a server that has not answered yet. Milliseconds, counted from the
   * first task that asked.
   */
  readonly patienceMs: number;
  readonly egress: Egress;
  readonly proxy: string | undefined;
  /** How we authenticate to a remote server; undefined if its entry has a header for that. */
  authorize(server: RemoteServer): Promise<AuthProvider | undefined>;
  /** Records a scope that a server requires for a request; the next sign-in asks for it. */
  widenScope(server: RemoteServer, scope: string): Promise<void>;
};

/**
 * Observes a client: `ready` is called before it connects, to set its handlers; `toolsChanged` when
 * the server announces that its tools changed; `leftOut` with each tool of a list that is invalid.
 */
export type ConnectListener = { ready(client: Client): void; toolsChanged(): void; leftOut(tool: string): void };

/**
 * How long a program may take to answer which revision it speaks before it counts as an old one.
 */
const programProbeMs = 5_000;
const leastConnectMs = 30_000;

/**
 * Connects to a server with the newest revision both speak: a program over its standard streams, a
 * URL over streamable HTTP or, if the server does not support that, the older event stream. Rejects
 * with the cause; the program has then been ended.
 */
export async function connect(
  server: ServerConfig,
  deps: ConnectDeps,
  listener: ConnectListener,
  signal: AbortSignal,
): Promise<ConnectedClient> {
  if (isProgram(server)) return connectProgram(server, deps, listener, signal);
  const streamable = () => remote(server, deps, listener, signal, StreamableHTTPClientTransport);
  const stream = () => remote(server, deps, listener, signal, SSEClientTransport);
  if (server.type === "sse") return stream();
  if (server.type !== undefined) return streamable();
  try {
    return await streamable();
  } catch (error) {
    if (!(error instanceof SdkHttpError) || ![400, 404, 405, 406, 415].includes(error.status ?? 0)) throw error;
    return stream().catch(() => Promise.reject(error));
  }
}

async function connectProgram(
  server: ProgramServer,
  deps: ConnectDeps,
  listener: ConnectListener,
  signal: AbortSignal,
): Promise<ConnectedClient> {
  const { maxMessageBytes } = server;
  const attempt = async (legacy: boolean) => {
    const transport = createStdioTransport({ start: () => startProgram(server, deps), maxMessageBytes });
    const client = newClient(server, listener, programProbeMs);
    leaveOutInvalid(client, transport, listener.leftOut);
    try {
      const prior = legacy ? ({ prior: { kind: "legacy" } } as const) : {};
      const timeout = Math.max(leastConnectMs, deps.patienceMs);
      await connectWithin(client, transport, { signal, timeout, ...prior });
      return { connected: { client, ending: transport.ending } };
    } catch (error) {
      const ending = transport.ending();
      await transport.close();
      return { error, ending };
    }
  };
  const first = await attempt(false);
  if (first.connected !== undefined) return first.connected;
  signal.throwIfAborted();
  if (first.ending === undefined || first.error instanceof AppError) throw first.error;
  // Some programs of older revisions exit at the first request they do not know.
  const second = await attempt(true);
  if (second.connected !== undefined) return second.connected;
  if (second.ending === undefined) throw second.error;
  throw new AppError("unavailable", second.ending, { cause: second.error });
}

type RemoteTransport = typeof StreamableHTTPClientTransport | typeof SSEClientTransport;

async function remote(
  server: RemoteServer,
  deps: ConnectDeps,
  listener: ConnectListener,
  signal: AbortSignal,
  Kind: RemoteTransport,
): Promise<ConnectedClient> {
  const url = new URL(server.url);
  const { headers, maxMessageBytes } = server;
  const authProvider = await deps.authorize(server);
  const transport: Transport = new Kind(url, {
    fetch: httpFetch({ url, egress: deps.egress, proxy: deps.proxy, maxMessageBytes }),
    requestInit: { headers },
    redirectPolicy: "same-origin",
    ...(authProvider && { authProvider }),
  });
  const timeout = Math.max(leastConnectMs, deps.patienceMs);
  const client = newClient(server, listener, timeout);
  leaveOutInvalid(client, transport, listener.leftOut);
  try {
    await connectWithin(client, transport, { signal, timeout });
    return { client, ending: () => undefined };
  } catch (error) {
    await client.close();
    signal.throwIfAborted();
    throw error;
  }
}

type Within = NonNullable<Parameters<Client["connect"]>[1]> & { readonly signal: AbortSignal };

/**
 * Connects. The client's question for the revision does not heed the signal, but ends with its
 * transport.
 */
async function connectWithin(client: Client, transport: Transport, options: Within): Promise<void> {
  const { signal } = options;
  const abort = () => void transport.close();
  signal.addEventListener("abort", abort, { once: true });
  try {
    signal.throwIfAborted();
    await client.connect(transport, options);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function newClient(server: ServerConfig, listener: ConnectListener, probeMs: number): Client {
  const capabilities: ClientCapabilities = {
    ...(server.elicitation && { elicitation: { form: {}, url: {} } }),
    ...(server.sampling && { sampling: {} }),
  };
  const client = new Client(
    { name: "manyhands", version },
    {
      capabilities,
      versionNegotiation: { mode: "auto", probe: { timeoutMs: probeMs } },
      inputRequired: { autoFulfill: false },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => listener.toolsChanged() } },
    },
  );
  // The library listens only to servers that declare it, which not all do that announce changes.
  client.setNotificationHandler("notifications/tools/list_changed", () => listener.toolsChanged());
  listener.ready(client);
  return client;
}
