import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type ReadyProcess, startReady } from "./ready-process.ts";

const entry = resolve(import.meta.dir, "../../gateway/src/server/main.ts");

/** A gateway as users start it: a separate process. */
export type GatewayServer = ReadyProcess & {
  /** Sends a request with a JSON body; returns the answer's status and body. */
  call(path: string, body?: unknown, headers?: Record<string, string>): Promise<{ status: number; body: Shown }>;
};

/** What an answer holds, as loosely as tests read it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Shown = any;

/**
 * Starts a gateway on a free port with only PATH from this process's environment, and waits until
 * it listens. `through` is a command that executes it.
 */
export async function startGatewayServer(
  home: string,
  env: Record<string, string> = {},
  through: readonly string[] = [],
): Promise<GatewayServer> {
  await mkdir(home, { recursive: true });
  const settings = { MANYHANDS_HOME: join(home, "state"), PORT: "0", ...env };
  const server = await startReady([...through, process.execPath, entry], { cwd: home, env: settings });
  return {
    ...server,
    async call(path, body, headers = {}) {
      const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
      const response = await fetch(`${server.url}${path}`, {
        ...init,
        headers: { "Content-Type": "application/json", ...headers },
      });
      return { status: response.status, body: JSON.parse(await response.text()) };
    },
  };
}

/** Polls until the condition holds; fails after a while. */
export async function until(isSo: () => Promise<boolean>, withinMs = 60_000): Promise<void> {
  for (const deadline = Date.now() + withinMs; !(await isSo()); await Bun.sleep(20))
    if (Date.now() > deadline) throw new Error("It did not come to be in time");
}
