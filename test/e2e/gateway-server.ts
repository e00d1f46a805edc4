import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";

const entry = resolve(import.meta.dir, "../../gateway/src/server/main.ts");

/** A gateway as users start it: a process of its own. */
export type GatewayServer = {
  readonly url: string;
  readonly pid: number;
  /** Resolves with the exit code; 137 after a kill -9. */
  readonly exited: Promise<number>;
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<number>;
  /** A request with a JSON body, and the answer's body. */
  call(path: string, body?: unknown, headers?: Record<string, string>): Promise<{ status: number; body: Shown }>;
};

/** What an answer holds, as loosely as tests read it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Shown = any;

/** Starts a gateway on a free port with nothing of this process's environment but the PATH, and waits until it listens. */
export async function startGatewayServer(home: string, env: Record<string, string> = {}): Promise<GatewayServer> {
  await mkdir(home, { recursive: true });
  const child = Bun.spawn([process.execPath, entry], {
    cwd: home,
    env: { PATH: process.env.PATH ?? "", MANYHANDS_HOME: join(home, "state"), PORT: "0", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const log = new Response(child.stderr).text();
  const url = await readyUrl(child.stdout);
  if (url === undefined) throw new Error(`The gateway ended before it was ready: ${await log}`);
  return {
    url,
    pid: child.pid,
    exited: child.exited,
    stop(signal = "SIGTERM") {
      child.kill(signal);
      return child.exited;
    },
    async call(path, body, headers = {}) {
      const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
      const response = await fetch(`${url}${path}`, {
        ...init,
        headers: { "Content-Type": "application/json", ...headers },
      });
      return { status: response.status, body: JSON.parse(await response.text()) };
    },
  };
}

async function readyUrl(output: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let said = "";
  for await (const chunk of output) {
    said += decoder.decode(chunk, { stream: true });
    const url = /ready (http\S+?)\/?\n/.exec(said)?.[1];
    if (url !== undefined) return url;
  }
  return undefined;
}

/** Looks again and again until it is so; fails after a while. */
export async function until(isSo: () => Promise<boolean>, withinMs = 20_000): Promise<void> {
  for (const deadline = Date.now() + withinMs; !(await isSo()); await Bun.sleep(20))
    if (Date.now() > deadline) throw new Error("It did not come to be in time");
}
