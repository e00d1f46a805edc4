import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { freePort } from "../../http/free-port.ts";

/** A Restate server of one test file. */
export type RestateProcess = AsyncDisposable & {
  readonly ingress: string;
  readonly admin: string;
  /** How many of its calls to services whose names begin so are being answered. */
  callsOf(prefix: string): Promise<number>;
  /** Kills what it has under way for services whose names begin so. */
  forget(prefix: string): Promise<void>;
  /** Starts it again after `stop`, with what it had stored. */
  start(): Promise<void>;
  /** Ends it as a power cut does. */
  stop(): Promise<void>;
};

/** Where the server's program is; undefined if it is not installed. */
export const restateProgram = Bun.which("restate-server") ?? undefined;

/** What is said of a suite that is skipped. */
export const noRestate =
  "No restate-server is on the PATH (npm: @restatedev/restate-server-linux-x64); its tests are skipped.";

const startedWithinMs = 30_000;
const rows = z.object({ rows: z.array(z.object({ id: z.string() })) });

/** Starts a server on free ports, with its data in a folder of its own. */
export async function startRestate(): Promise<RestateProcess> {
  const program = restateProgram;
  if (program === undefined) throw new Error(noRestate);
  const folder = mkdtempSync(join(tmpdir(), "restate-"));
  const ports = { ingress: freePort(), admin: freePort(), node: freePort() };
  const config = join(folder, "restate.toml");
  await Bun.write(
    config,
    `cluster-name = "test"
node-name = "node"
default-num-partitions = 4
rocksdb-total-memory-size = "128.0 MiB"
disable-telemetry = true
base-dir = ${JSON.stringify(join(folder, "data"))}
bind-ip = "127.0.0.1"
bind-port = ${ports.node}
[ingress]
bind-port = ${ports.ingress}
[admin]
bind-port = ${ports.admin}
`,
  );
  const [ingress, admin] = [`http://127.0.0.1:${ports.ingress}`, `http://127.0.0.1:${ports.admin}`];
  let server: Bun.Subprocess | undefined;
  const self: RestateProcess = {
    ingress,
    admin,
    callsOf: async (prefix) => (await invocationsOf(admin, prefix, "status = 'running'")).length,
    async forget(prefix) {
      const ids = await invocationsOf(admin, prefix, "status <> 'completed'");
      await Promise.all(ids.map((id) => fetch(`${admin}/invocations/${id}/kill`, { method: "PATCH" })));
    },
    async start() {
      server = Bun.spawn([program, "--config-file", config], {
        cwd: folder,
        // It reads every variable RESTATE_* as its configuration.
        env: { PATH: process.env.PATH },
        stdout: "ignore",
        stderr: "ignore",
      });
      await answering(`${admin}/health`);
      await answering(`${ingress}/restate/health`);
    },
    async stop() {
      server?.kill("SIGKILL");
      await server?.exited;
    },
    async [Symbol.asyncDispose]() {
      await self.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await self.start();
  return self;
}

async function invocationsOf(admin: string, prefix: string, condition: string): Promise<readonly string[]> {
  const query = `SELECT id FROM sys_invocation WHERE target_service_name LIKE '${prefix}.%' AND ${condition}`;
  const response = await fetch(`${admin}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query }),
  });
  // It refuses while it starts.
  if (!response.ok) return [];
  return rows.parse(await response.json()).rows.map(({ id }) => id);
}

async function answering(url: string): Promise<void> {
  for (const deadline = performance.now() + startedWithinMs; ; await Bun.sleep(50)) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    if (performance.now() > deadline) throw new Error(`${url} does not answer: ${response?.status}`);
  }
}
