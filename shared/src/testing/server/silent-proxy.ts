import { connect, createServer, type Socket } from "node:net";

/** A way to a server that can go silent, as one does on which packets are dropped. */
export type SilentProxy = AsyncDisposable & {
  /** The address with the proxy's instead of the server's. */
  readonly url: string;
  /** From now on nothing passes on the connections that are there, nor on new ones if so said. */
  silence(which: "these" | "all"): void;
  /** The first connection on which the client says this text gets no answer to it, nor to more. */
  silenceOn(text: string): void;
  /** New connections pass again; those that were silenced never do. */
  speak(): void;
};

/** Starts one before the server of this address. */
export async function startSilentProxy(url: string): Promise<SilentProxy> {
  const target = new URL(url);
  const open = new Set<{ readonly ends: readonly Socket[]; isSilent: boolean }>();
  let isSilent = false;
  let fatal: string | undefined;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    const connection = { ends: [near, far], isSilent };
    open.add(connection);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("data", (bytes: Buffer) => {
        if (from === near && fatal !== undefined && bytes.includes(fatal)) {
          connection.isSilent = true;
          fatal = undefined;
        }
        if (!connection.isSilent) to.write(bytes);
      });
      from.on("close", () => {
        if (!connection.isSilent) to.destroy();
      });
      from.on("error", () => undefined);
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as { readonly port: number };
  return {
    url: url.replace(/@[^/]*/, `@127.0.0.1:${port}`),
    silence(which) {
      isSilent = which === "all";
      for (const connection of open) connection.isSilent = true;
    },
    silenceOn(text) {
      fatal = text;
    },
    speak() {
      isSilent = false;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const { ends } of open) for (const end of ends) end.destroy();
    },
  };
}
