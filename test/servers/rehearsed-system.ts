import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";

const main = resolve(import.meta.dir, "../../gateway/src/main.ts");
const { OPENAI_API_KEY: _, OPENAI_BASE_URL: __, MANYHANDS_MODEL: ___, ...rest } = process.env;

/**
 * The whole system as a newcomer starts it: every agent and the gateway, on the rehearsal model.
 */
export type RehearsedSystem = AsyncDisposable & {
  readonly url: string;
  /** Where it was started: its settings file is here. */
  readonly folder: string;
  /** Carries out a command line there. */
  run(...args: readonly string[]): Promise<{ readonly out: string; readonly exitCode: number }>;
};

/** Starts it on free ports in a folder of its own, and waits until everything is up. */
export async function startRehearsedSystem(): Promise<RehearsedSystem> {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-rehearsed-"));
  const names = ["MANUS_PORT", "BROWSER_PORT", "SWE_PORT", "DATA_ANALYSIS_PORT", "GATEWAY_PORT"];
  const ports = Object.fromEntries(names.map((name) => [name, `${freePort()}`]));
  const env = { ...rest, ...ports, MANYHANDS_HOME: join(folder, "home"), NO_COLOR: "1" };
  const system = Bun.spawn([process.execPath, main, "start"], {
    cwd: folder,
    env,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const isUp = Promise.withResolvers<void>();
  void (async () => {
    let said = "";
    for await (const chunk of system.stderr) {
      said += new TextDecoder().decode(chunk);
      if (/^Up\./m.test(said)) isUp.resolve();
    }
    isUp.reject(new Error(said));
  })();
  await isUp.promise;
  return {
    url: `http://127.0.0.1:${ports.GATEWAY_PORT}`,
    folder,
    async run(...args) {
      const command = [process.execPath, main, ...args];
      const child = Bun.spawn(command, { cwd: folder, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
      const [out] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { out, exitCode: await child.exited };
    },
    async [Symbol.asyncDispose]() {
      system.kill("SIGTERM");
      await system.exited;
      await rm(folder, { recursive: true });
    },
  };
}
