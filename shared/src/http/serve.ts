import { isIP } from "node:net";
import type { ConnectionEnd } from "./socket-owner.ts";

/**
 * Refuses a request by whoever holds the other end of its connection; undefined lets it pass. Asked
 * before anything of it is read.
 */
export type Guard = (client: ConnectionEnd, own: ConnectionEnd) => Response | undefined;

/** A listening server. */
export type Served = {
  /** Where it listens, with the port it got. */
  readonly url: URL;
  /** Stops as a signal would; resolves when everything is closed. */
  stop(): Promise<void>;
};

/** How a server listens and ends. */
export type ServeOptions = {
  /** 0 takes any free port. */
  readonly port: number;
  /** Loopback unless told otherwise: everything else is reachable by others. */
  readonly hostname?: string;
  /**
   * Milliseconds that running requests get to finish after a stop; streams are cut then, and
   * resumed by their readers.
   */
  readonly graceMs?: number;
  /** Everyone who reaches the server is answered when left out. */
  readonly guard?: Guard | undefined;
  /** Closes what the requests used, after them: the engine, say. */
  readonly close?: () => Promise<void>;
};

/**
 * Listens until SIGTERM or SIGINT, then takes nothing new, lets running requests finish and closes.
 * There is no idle limit: a stream may be silent while a model thinks. A second signal ends the
 * process at once.
 */
export function serve(
  app: { fetch(request: Request): Response | Promise<Response> },
  { port, hostname = "127.0.0.1", graceMs = 1_000, guard, close }: ServeOptions,
): Served {
  const server = Bun.serve({
    port,
    hostname,
    idleTimeout: 0,
    // Bun shares the port between processes otherwise, with `development` off: a second server
    // would take half the requests.
    reusePort: false,
    // Bun's error page for developers shows source code.
    development: false,
    fetch: (request, bun) => (guard && refused(request, bun, guard)) ?? app.fetch(request),
  });
  let stopped: Promise<void> | undefined;

  const end = async () => {
    process.off("SIGTERM", stop);
    process.off("SIGINT", stop);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([server.stop(), grace]);
    clearTimeout(timer);
    await server.stop(true);
    await close?.();
  };
  const stop = () => {
    stopped ??= end();
    return stopped;
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  return { url: server.url, stop };
}

/** A connection that is gone has no ends left to look at. */
function refused(request: Request, bun: Bun.Server<undefined>, guard: Guard): Response | undefined {
  const client = bun.requestIP(request);
  if (client === null) return new Response(null, { status: 401 });
  const host = bun.hostname?.replace(/^\[|\]$/g, "") ?? "";
  // A name that is listened on is `localhost`, which is one address of each family.
  const address = isIP(host) === 0 ? loopback[client.family] : host;
  return guard(client, { address, port: bun.port ?? 0 });
}

const loopback = { IPv4: "127.0.0.1", IPv6: "::1" } as const;
