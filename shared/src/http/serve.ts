import { isIP } from "node:net";
import { closeAll } from "../core/async/close-all.ts";
import { addressed } from "./addressed.ts";
import { mostTakenIn } from "./request-body.ts";
import type { ConnectionEnd } from "./socket-owner.ts";
import { isEventStream } from "./sse.ts";

/**
 * Decides by a connection's ends whether to refuse a request, before any of it is read; undefined
 * lets it pass.
 */
export type ConnectionGuard = (client: ConnectionEnd, own: ConnectionEnd) => Response | undefined;

/** A listening server. */
export type Served = {
  /** Where it listens, with the actual port. */
  readonly url: URL;
  /** Stops as a signal would; resolves when everything is closed. */
  stop(): Promise<void>;
};

/** How a server listens and ends. */
export type ServeOptions = {
  /** 0 takes any free port. */
  readonly port: number;
  /** Defaults to loopback; other addresses are reachable from other machines. */
  readonly hostname?: string;
  /**
   * Milliseconds that running requests get to finish after a stop. Streams are cut then, and their
   * readers resume them.
   */
  readonly graceMs?: number;
  /** Seconds for which a connection may be silent between two requests; 120 if left out. */
  readonly idleSeconds?: number;
  /**
   * HTTPS, with a certificate and its key in PEM form; connections need a certificate of their own
   * if there are authorities for clients.
   */
  readonly tls?: { readonly cert: string; readonly key: string; readonly clientCa?: string | undefined } | undefined;
  /** If left out, every client is answered. */
  readonly guard?: ConnectionGuard | undefined;
  /**
   * Called on a stop with the milliseconds that running requests get: lets those of other servers
   * of this process finish.
   */
  readonly drain?: ((graceMs: number) => Promise<void>) | undefined;
  /** Called after the last request, to close what requests used, such as the engine. */
  readonly close?: () => Promise<void>;
};

/**
 * Listens until SIGTERM or SIGINT, then accepts nothing new, lets running requests finish and
 * closes. No request has an idle timeout: a stream may be silent while a model thinks. A second
 * signal ends the process at once.
 */
export function serve(
  app: { fetch(request: Request): Response | Promise<Response> },
  { port, hostname = "127.0.0.1", graceMs = 1_000, idleSeconds = 120, tls, guard, drain, close }: ServeOptions,
): Served {
  const server: Bun.Server<undefined> = Bun.serve({
    port,
    hostname,
    idleTimeout: 0,
    maxRequestBodySize: mostTakenIn,
    // Otherwise Bun, with `development` off, shares the port between processes: a second server
    // would take half the requests.
    reusePort: false,
    // Bun's error page for developers shows source code.
    development: false,
    ...(tls && { tls: listenedWith(tls) }),
    async fetch(request, bun) {
      // What the answer before has set.
      bun.timeout(request, 0);
      const answer = await answered(request, bun);
      if (!isEventStream(answer)) bun.timeout(request, idleSeconds);
      return answer;
    },
  });
  const answered = (request: Request, bun: Bun.Server<undefined>) => {
    const refusal = guard && refused(request, bun, guard);
    if (refusal !== undefined) return refusal;
    const whole = addressed(request, server.url);
    return whole instanceof Response ? whole : app.fetch(whole);
  };
  let stopped: Promise<void> | undefined;

  const end = async () => {
    process.off("SIGTERM", stop);
    process.off("SIGINT", stop);
    await closeAll([() => drainServer(server, graceMs), () => drain?.(graceMs)], close);
  };
  const stop = () => {
    stopped ??= end();
    return stopped;
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  return { url: server.url, stop };
}

/** Lets running requests finish for so long, then cuts them off. */
async function drainServer(server: Bun.Server<undefined>, graceMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const grace = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, graceMs);
  });
  await Promise.race([server.stop(), grace]);
  clearTimeout(timer);
  await server.stop(true);
}

function listenedWith({ cert, key, clientCa }: NonNullable<ServeOptions["tls"]>): Bun.TLSOptions {
  const asked = { ca: clientCa, requestCert: true, rejectUnauthorized: true };
  return { cert, key, ...(clientCa !== undefined && asked) };
}

/** A connection that is gone has no ends left to look at. */
function refused(request: Request, bun: Bun.Server<undefined>, guard: ConnectionGuard): Response | undefined {
  const client = bun.requestIP(request);
  if (client === null) return new Response(null, { status: 401 });
  const host = bun.hostname?.replace(/^\[|\]$/g, "") ?? "";
  return guard(client, { address: ownAddress(host, client.address), port: bun.port ?? 0 });
}

/**
 * The address of a server on `host` at which a client of that address has reached it. The only name
 * to listen on is `localhost`, which has one address in each family.
 */
export function ownAddress(host: string, client: string): string {
  if (isIP(host) !== 0) return host;
  return isIP(client) === 6 ? "::1" : "127.0.0.1";
}
