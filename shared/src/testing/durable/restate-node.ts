import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../http/free-port.ts";

/** Where the server's program is; undefined if it is not installed. */
export const restateProgram = Bun.which("restate-server") ?? undefined;

/** What is said of a suite that is skipped. */
export const noRestate =
  "No restate-server is on the PATH (npm: @restatedev/restate-server-linux-x64); its tests are skipped.";

/** One node of a Restate cluster. */
export type RestateNode = {
  readonly ingress: string;
  readonly admin: string;
  /** Its process; 0 while there is none. */
  pid(): number;
  /** Starts it, again after `stop` with what it had stored. Resolves once it answers. */
  start(): Promise<void>;
  /** Ends it as a power cut does. */
  stop(): Promise<void>;
};

const startedWithinMs = 60_000;

/** Prepares the nodes of a cluster, on free ports and with their data below `folder`. */
export async function restateNodes(folder: string, count: number): Promise<readonly RestateNode[]> {
  const program = restateProgram;
  if (program === undefined) throw new Error(noRestate);
  const ports = Array.from({ length: count }, () => ({ ingress: freePort(), admin: freePort(), node: freePort() }));
  const cluster = count === 1 ? [] : ports.map(({ node }) => at(node));
  return Promise.all(
    ports.map(async (own, n) => {
      const place = join(folder, `node-${n + 1}`);
      mkdirSync(place, { recursive: true });
      const config = join(place, "restate.toml");
      await Bun.write(config, configOf(n, own, place, cluster));
      return nodeOf([program, "--config-file", config], place, own);
    }),
  );
}

type Ports = { readonly ingress: number; readonly admin: number; readonly node: number };

const at = (port: number) => `http://127.0.0.1:${port}`;

function nodeOf(command: readonly string[], cwd: string, ports: Ports): RestateNode {
  const [ingress, admin] = [at(ports.ingress), at(ports.admin)];
  let server: Bun.Subprocess | undefined;
  return {
    ingress,
    admin,
    pid: () => server?.pid ?? 0,
    async start() {
      const log = join(cwd, "log");
      const spawn = () => {
        const output = openSync(log, "a");
        try {
          // It reads every variable RESTATE_* as its configuration.
          return Bun.spawn([...command], { cwd, env: { PATH: process.env.PATH }, stdout: output, stderr: output });
        } finally {
          closeSync(output);
        }
      };
      server = spawn();
      // It ends at once while another program has one of its ports.
      const again = () => {
        if (server?.exitCode !== null && server?.signalCode === null) server = spawn();
      };
      try {
        await answering(`${admin}/health`, again);
        await answering(`${ingress}/restate/health`, again);
      } catch (error) {
        throw new Error(`A node of Restate did not start. ${readFileSync(log, "utf8").slice(-4_000)}`, {
          cause: error,
        });
      }
    },
    async stop() {
      server?.kill("SIGKILL");
      await server?.exited;
    },
  };
}

/** `cluster`: the addresses of all nodes, if there are several. */
function configOf(n: number, ports: Ports, folder: string, cluster: readonly string[]): string {
  const isCluster = cluster.length > 0;
  return `cluster-name = "test"
node-name = "node-${n + 1}"
auto-provision = ${n === 0}
default-num-partitions = 4
${isCluster ? "default-replication = 2" : ""}
rocksdb-total-memory-size = "128.0 MiB"
disable-telemetry = true
base-dir = ${JSON.stringify(join(folder, "data"))}
bind-ip = "127.0.0.1"
bind-port = ${ports.node}
advertised-address = "${at(ports.node)}"
${isCluster ? `[metadata-client]\naddresses = ${JSON.stringify(cluster)}` : ""}
[ingress]
bind-port = ${ports.ingress}
[admin]
bind-port = ${ports.admin}
`;
}

/** Waits for an answer; `again` is called before each try. */
async function answering(url: string, again: () => void): Promise<void> {
  for (const deadline = performance.now() + startedWithinMs; ; await Bun.sleep(50)) {
    again();
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
    if (response?.ok) return;
    if (performance.now() > deadline) throw new Error(`${url} does not answer: ${response?.status}`);
  }
}
