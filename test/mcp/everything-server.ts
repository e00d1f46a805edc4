import { freePort } from "manyhands/internal/http/free-port";

/** server-everything over HTTP, as its users start it. `await using` stops it. */
export type EverythingServer = AsyncDisposable & { readonly url: string };

/**
 * Starts one with this transport, on a free port by default. Rejects if it cannot be reached in
 * time.
 */
export async function startEverything(
  kind: "sse" | "streamableHttp",
  port = `${freePort()}`,
): Promise<EverythingServer> {
  const entry = Bun.resolveSync("@modelcontextprotocol/server-everything/dist/index.js", import.meta.dir);
  const child = Bun.spawn(["node", entry, kind], {
    env: { PATH: process.env.PATH ?? "", PORT: port },
    stdout: "ignore",
    stderr: "ignore",
  });
  const origin = `http://127.0.0.1:${port}`;
  await untilReached(origin);
  return {
    url: `${origin}/${kind === "sse" ? "sse" : "mcp"}`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

async function untilReached(origin: string): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(20)) {
    const reached = await fetch(`${origin}/nothing`).then(
      () => true,
      () => false,
    );
    if (reached) return;
  }
  throw new Error(`There is nothing at ${origin}.`);
}
