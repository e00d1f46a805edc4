import type { createServer, Http2Server, ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import type { ObjectContext } from "@restatedev/restate-sdk";
import { AppError, errnoOf, messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/runs/engine.ts";

/** Where Restate and this process reach each other. */
export type RestateEndpointOptions = {
  /** Restate's admin API, such as `http://127.0.0.1:9070`. */
  readonly admin: string;
  /** Where this process listens for Restate. Default: on loopback, at a free port. */
  readonly host?: string;
  readonly port?: number;
  /** The address by which Restate reaches this process, or the replicas of which it is one. */
  readonly publicUrl?: string;
  /** Public keys of Restate: if there are any, requests that they do not sign are refused. */
  readonly identityKeys?: readonly string[];
  /** Begins the names of the services at Restate, which several systems may share. */
  readonly prefix: string;
  readonly log?: Log;
};

/** A worker in this process. */
export interface DrivenWorker {
  serves(kind: string): boolean;
  /** How many more bodies of this kind it has room for. */
  roomFor(kind: string): number;
  /** Sees to a run until there is nothing to do for it now. `gone`: nobody waits for that. */
  drive(kind: string, runId: string, gone: AbortSignal): Promise<void>;
}

type Handler = Parameters<typeof createServer>[1] & {};

/**
 * Restate keeps a connection for each of its partitions. Where connections are balanced and not
 * calls, a replica that comes later would never get any. Nor does a connection take more at once:
 * calls that are on their way when it ends fail, and Restate repeats them only after up to two
 * seconds. So many that come together come by several connections.
 */
const callsPerConnection = 16;

const firstPauseMs = 50;
const longestPauseMs = 2_000;
const flushWithinMs = 500;

/** What Restate does when a life is lost; what it gives up is found by the sweep. */
const retryPolicy = {
  initialInterval: 20,
  exponentiationFactor: 2,
  maxInterval: 2_000,
  maxAttempts: 30,
  onMaxAttempts: "kill" as const,
};

/**
 * What Restate calls: a virtual object per kind of run, whose key is the run's id and whose one
 * handler is a life of that run. So of each run one life goes on at a time.
 */
export class RestateEndpoint {
  readonly #options: RestateEndpointOptions;
  readonly #workers = new Set<DrivenWorker>();
  readonly #kinds = new Set<string>();
  readonly #sessions = new Set<ServerHttp2Session>();
  #server: Http2Server | undefined;
  #handler: Handler | undefined;
  #registered = 0;
  #registering: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: RestateEndpointOptions) {
    this.#options = options;
  }

  /** The name under which Restate knows runs of this kind. */
  serviceOf(kind: string): string {
    const escaped = kind.replaceAll(/[^A-Za-z0-9.-]/g, (character) => `_${character.codePointAt(0)?.toString(16)}`);
    return `${this.#options.prefix}.${escaped}`;
  }

  add(worker: DrivenWorker): void {
    this.#workers.add(worker);
  }

  remove(worker: DrivenWorker): void {
    this.#workers.delete(worker);
  }

  /**
   * Listens already, before anything is served: rejects with `config_invalid` if it cannot, or if a
   * key of Restate is malformed.
   */
  async listen(): Promise<void> {
    const { host = "127.0.0.1", port = 0 } = this.#options;
    await this.#handlerOf([]).catch((cause) => {
      const message = `engine.restate.identity_keys has a key that Restate does not use (${messageOf(cause)}).`;
      throw new AppError("config_invalid", message, { cause });
    });
    await this.#bound().catch((cause) => {
      const why = errnoOf(cause) ?? messageOf(cause);
      const message = `This server cannot listen for Restate on ${host}:${port} (${why}). Stop what listens there, or set engine.restate.port.`;
      throw new AppError("config_invalid", message, { cause });
    });
  }

  /** Resolves once Restate knows these kinds, however long it cannot be reached. */
  serve(kinds: Iterable<string>): Promise<void> {
    for (const kind of kinds) this.#kinds.add(kind);
    if (this.#kinds.size === this.#registered) return this.#registering ?? Promise.resolve();
    this.#registering ??= this.#register().finally(() => {
      this.#registering = undefined;
    });
    return this.#registering;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#server?.close();
    // What the last drives answered is on its way.
    for (const session of this.#sessions) session.close();
    for (const deadline = performance.now() + flushWithinMs; this.#sessions.size > 0; await Bun.sleep(5))
      if (performance.now() > deadline) break;
    for (const session of this.#sessions) session.destroy();
  }

  async #register(): Promise<void> {
    // Kinds that are named in the same turn are registered together.
    await Bun.sleep(0);
    while (this.#kinds.size > this.#registered && !this.#isClosed) {
      const kinds = [...this.#kinds];
      this.#handler = await this.#handlerOf(kinds);
      const own = await this.#boundAtLast();
      await this.#tell(this.#options.publicUrl ?? own);
      this.#registered = kinds.length;
    }
  }

  async #handlerOf(kinds: readonly string[]): Promise<Handler> {
    // Loaded only by those who use it.
    const { createEndpointHandler, object } = await import("@restatedev/restate-sdk");
    const services = kinds.map((kind) =>
      object({
        name: this.serviceOf(kind),
        handlers: {
          drive: (context: ObjectContext) => this.#drive(kind, context.key, context.request().attemptCompletedSignal),
        },
        options: {
          // A life says nothing to Restate while it goes on; that its process is there shows in the
          // connection.
          inactivityTimeout: { days: 365 },
          abortTimeout: { days: 365 },
          journalRetention: 0,
          idempotencyRetention: { seconds: 1 },
          retryPolicy,
        },
      }),
    );
    const { identityKeys = [] } = this.#options;
    return createEndpointHandler({
      services,
      logger() {},
      ...(identityKeys.length > 0 && { identityKeys: [...identityKeys] }),
    });
  }

  /** Where it listens. */
  async #bound(): Promise<string> {
    const { host = "127.0.0.1", port = 0 } = this.#options;
    if (this.#server === undefined) {
      const { createServer } = await import("node:http2");
      const settings = { maxConcurrentStreams: callsPerConnection };
      const server = createServer({ settings }, (request, response) => {
        // What is served here is not known yet; Restate calls again.
        if (this.#handler === undefined) response.writeHead(503).end();
        else this.#handler(request, response);
      });
      server.on("session", (session) => {
        this.#sessions.add(session);
        session.on("close", () => this.#sessions.delete(session));
        let calls = 0;
        session.on("stream", () => {
          // The calls it has go on; the next ones come by a new connection.
          if (++calls === callsPerConnection) session.close();
        });
      });
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      server.on("error", reject);
      server.listen(port, host, resolve);
      await promise;
      this.#server = server;
    }
    const { port: own } = this.#server.address() as AddressInfo;
    // Closed while it began to listen.
    if (this.#isClosed) this.#server.close();
    return `http://${host}:${own}`;
  }

  /** Where it listens, once it can. */
  async #boundAtLast(): Promise<string> {
    let uri = "";
    await this.#persist("This worker cannot listen for Restate yet.", 0, async () => {
      try {
        uri = await this.#bound();
        return undefined;
      } catch (error) {
        return messageOf(error);
      }
    });
    return uri;
  }

  /** Tells Restate what is served here. A balancer in between may not know this process yet. */
  async #tell(uri: string): Promise<void> {
    const { admin } = this.#options;
    const attempt = () => register(`${admin}/deployments`, uri);
    await this.#persist("Restate does not know this worker yet.", longestPauseMs, attempt);
  }

  /** Tries until nothing refuses or this is closed; a refusal is logged once pauses are so long. */
  async #persist(said: string, fromPauseMs: number, attempt: () => Promise<string | undefined>): Promise<void> {
    let logged: string | undefined;
    for (let pauseMs = firstPauseMs; !this.#isClosed; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const refusal = await attempt();
      if (refusal === undefined) return;
      if (pauseMs >= fromPauseMs && refusal !== logged) {
        this.#options.log?.warn({ refusal }, said);
        logged = refusal;
      }
      await Bun.sleep(pauseMs);
    }
  }

  async #drive(kind: string, runId: string, gone: AbortSignal): Promise<void> {
    const able = [...this.#workers].filter((worker) => worker.serves(kind));
    const free = able.filter((worker) => worker.roomFor(kind) > 0);
    const from = free.length > 0 ? free : able;
    // Any of them: one that lacks the run's body leaves it to another draw.
    const worker = from[Math.floor(Math.random() * from.length)];
    if (worker === undefined) throw new AppError("unavailable", "No worker here handles this kind any more.");
    await worker.drive(kind, runId, gone);
  }
}

/** Why Restate did not accept the address; undefined if it did. */
async function register(url: string, uri: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uri, force: true }),
      signal: AbortSignal.timeout(10_000),
    });
    return response.ok ? void (await response.body?.cancel()) : `${response.status} ${await response.text()}`;
  } catch (error) {
    return messageOf(error);
  }
}
