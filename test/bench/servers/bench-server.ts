import { mkdtempSync } from "node:fs";
import { join } from "node:path";

/** A server as a process of its own, so that its memory and its processor time are its own. */
export type BenchServer = { readonly url: string; rssMb(): Promise<number>; stop(): Promise<void> };

/**
 * Starts a server that prints its address, with a home in the folder; `prepare` puts there what it
 * finds when it starts.
 */
export async function startServer(
  folder: string,
  name: string,
  entry: string,
  prepare?: (home: string) => Promise<void>,
): Promise<BenchServer> {
  const home = mkdtempSync(join(folder, `${name}-`));
  await prepare?.(home);
  const child = Bun.spawn([process.execPath, entry], {
    cwd: home,
    env: { PATH: process.env.PATH ?? "", MANYHANDS_HOME: home, PORT: "0", SANDBOX: "off" },
    stdout: "pipe",
    stderr: Bun.file(join(home, "stderr.log")),
  });
  const decoder = new TextDecoder();
  let said = "";
  for await (const chunk of child.stdout) {
    said += decoder.decode(chunk);
    const url = /ready (http:\/\/[^/\s]+)/.exec(said)?.[1];
    if (url === undefined) continue;
    return {
      url,
      async rssMb() {
        return Number(/VmRSS:\s+(\d+)/.exec(await Bun.file(`/proc/${child.pid}/status`).text())?.[1]) / 1024;
      },
      async stop() {
        child.kill();
        await child.exited;
      },
    };
  }
  throw new Error(`${name} did not start: ${await Bun.file(join(home, "stderr.log")).text()}`);
}

/** How long work takes, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** The middle of some values. */
export const median = (values: number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
