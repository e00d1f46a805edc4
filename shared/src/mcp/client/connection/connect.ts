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
import { type ProgramDeps, startProgram } from "./start-program.ts";
import { createStdioTransport } from "./stdio-transport.ts";

/**
 * A client that has shaken hands, and why its connection ended once it has, where that can be told.
 */
export type Connected = { readonly client: Client; ending(): string | undefined };

/** What connections are made with. */
export type ConnectDeps = ProgramDeps & {
  /**
   * How long tasks wait for a server that has not answered yet, in milliseconds from the first that
   * asked.
   */
  readonly patienceMs: number;
  readonly egress: Egress;
  readonly proxy: string | undefined;
  /**
   * What a remote server is told of who we are; undefined where its entry has a header for that.
   */
  authorize(server: RemoteServer): Promise<AuthProvider | undefined>;
  /** Told of a scope that a server wants for what it was asked; the next signing in asks for it. */
  widenScope(server: RemoteServer, scope: string): Promise<void>;
};

/**
 * Who hears of a client: `ready` before it connects, to set its handlers, `toolsChanged` when the
 * server says that its list did.
 */
export type ConnectListener = { ready(client: Client): void; toolsChanged(): void };

/**
 * A server that is asked which revision it speaks may be silent for this long before it is taken
 * for an old one.
 */
const probe = { timeoutMs: 5_000 };
const leastConnectMs = 30_000;

/**
 * Connects to a server with the newest revision both speak: a program over its standard streams, a
 * URL over streamable HTTP or, where the server does not know that, the older event stream. Rejects
 * with what went wrong; the program has been ended then.
 */
export async function connect(
  server: ServerConfig,
  deps: ConnectDeps,
  listener: ConnectListener,
  signal: AbortSignal,
): Promise<Connected> {
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
): Promise<Connected> {
  const { maxMessageBytes } = server;
  const attempt = async (legacy: boolean) => {
    const transport = createStdioTransport({ start: () => startProgram(server, deps), maxMessageBytes });
    const client = newClient(server, listener);
    try {
      const prior = legacy ? ({ prior: { kind: "legacy" } } as const) : {};
      await client.connect(transport, { signal, timeout: Math.max(leastConnectMs, deps.patienceMs), ...prior });
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
  // Some programs of older revisions end at the first request they do not know.
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
): Promise<Connected> {
  const url = new URL(server.url);
  const { headers, maxMessageBytes } = server;
  const authProvider = await deps.authorize(server);
  const transport: Transport = new Kind(url, {
    fetch: httpFetch({ url, egress: deps.egress, proxy: deps.proxy, maxMessageBytes }),
    requestInit: { headers },
    redirectPolicy: "same-origin",
    ...(authProvider && { authProvider }),
  });
  const client = newClient(server, listener);
  try {
    await client.connect(transport, { signal, timeout: Math.max(leastConnectMs, deps.patienceMs) });
    return { client, ending: () => undefined };
  } catch (error) {
    await client.close();
    throw error;
  }
}

function newClient(server: ServerConfig, listener: ConnectListener): Client {
  const capabilities: ClientCapabilities = {
    ...(server.elicitation && { elicitation: { form: {}, url: {} } }),
    ...(server.sampling && { sampling: {} }),
  };
  const client = new Client(
    { name: "manyhands", version },
    {
      capabilities,
      versionNegotiation: { mode: "auto", probe },
      inputRequired: { autoFulfill: false },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => listener.toolsChanged() } },
    },
  );
  listener.ready(client);
  return client;
}
