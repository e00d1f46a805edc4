import { rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lazily } from "../../core/async/lazy.ts";
import { AppError } from "../../core/errors.ts";
import { makeOwnedFolder } from "../process/owned-folder.ts";
import { admitTunnelHead } from "./own-loopback.ts";
import { forwardRequest } from "./proxy-forward.ts";
import { readHead } from "./proxy-head.ts";
import { relay } from "./proxy-relay.ts";

type Bounds = { readonly connectMs: number; readonly idleMs: number; readonly answerBytes: number };

/** Forwards what users of a proxy send to their own loopback. */
export interface OwnForwarding {
  /** As `forwardRequest`. */
  request(
    exchange: { readonly request: IncomingMessage; readonly response: ServerResponse; readonly url: URL },
    dial: () => Promise<Socket>,
  ): Promise<"ended" | "cut">;
  /**
   * Answers the client that its tunnel stands, and joins it if it is a WebSocket of such a page.
   */
  tunnel(client: Socket, head: Buffer, dial: () => Promise<Socket>): Promise<"ended" | "cut">;
  close(): Promise<void>;
}

/** Creates it; nothing is opened before the first request. */
export function createOwnForwarding(bounds: Bounds): OwnForwarding {
  // A short path, as sockets require, that no other user can enter.
  const folder = lazily(() => makeOwnedFolder(tmpdir(), "manyhands-in", 0o700));
  return {
    async request({ request, response, url }, dial) {
      const target = await dial();
      const socketPath = join(await folder.get(), crypto.randomUUID().slice(0, 8));
      const standIn = await standFor(target, socketPath, bounds);
      try {
        return await forwardRequest(request, response, url, { socketPath }, { ...bounds, upstream: undefined });
      } finally {
        standIn.close();
        target.destroy();
      }
    },
    async tunnel(client, first, dial) {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      if (first.length > 0) client.unshift(first);
      const { head, rest } = await readHead(client, bounds.connectMs);
      admitTunnelHead(head);
      const target = await dial();
      target.write(`${head}\r\n\r\n`);
      if (rest.length > 0) target.write(rest);
      return await relay(client, target, bounds);
    },
    async close() {
      const made = await folder.made()?.catch(() => undefined);
      if (made !== undefined) await rm(made, { recursive: true, force: true });
    },
  };
}

/**
 * Lets one connection to a socket of ours be the given one: the client for HTTP makes its own
 * connections and takes none.
 */
async function standFor(target: Socket, path: string, bounds: Bounds) {
  const server = createServer((client) => {
    server.close();
    // What comes back is counted where it is forwarded, which says so when it is too much.
    void relay(client, target, { ...bounds, answerBytes: Number.POSITIVE_INFINITY });
  });
  await new Promise<void>((done, fail) => {
    server.once("error", (cause) => fail(new AppError("unavailable", "The way to the sandbox failed.", { cause })));
    server.listen(path, done);
  });
  return server;
}
