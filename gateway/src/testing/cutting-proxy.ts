import { connect, createServer, type Socket } from "node:net";

/** A connection to a server that can be cut. */
export type CuttingProxy = AsyncDisposable & {
  readonly url: string;
  /** Breaks every open connection, and while `closed` every new one. */
  cut(): void;
  closed: boolean;
};

/**
 * Starts one on a free port. A connection breaks by itself after `bytes()` bytes from the server.
 */
export async function startCuttingProxy(target: string, bytes = () => Number.POSITIVE_INFINITY): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    let left = bytes();
    const end = () => {
      for (const socket of [near, far]) {
        socket.destroy();
        open.delete(socket);
      }
    };
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", end).on("close", end);
    }
    if (proxy.closed) return end();
    near.on("data", (chunk) => void far.write(chunk));
    far.on("data", (chunk: Buffer) => {
      const through = chunk.subarray(0, left);
      left -= through.length;
      near.write(through, () => left <= 0 && end());
    });
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await listening;
  const address = server.address();
  const proxy: CuttingProxy = {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    closed: false,
    cut() {
      for (const socket of open) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      proxy.cut();
      server.close();
    },
  };
  return proxy;
}
