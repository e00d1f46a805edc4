import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { startPostgres } from "../../../shared/src/testing/durable/postgres-process.ts";
import { restateNodes } from "../../../shared/src/testing/durable/restate-node.ts";
import { type Part, type ProcessPart, processPart } from "./part.ts";

/** A system of two replicas of everything on real ports, whose parts can be ended one by one. */
export type Cluster = AsyncDisposable & {
  /** Where callers reach the gateways: at the balancer. */
  readonly url: string;
  readonly gateways: readonly ProcessPart[];
  readonly agents: readonly ProcessPart[];
  readonly restate: readonly Part[];
  readonly postgres: Part;
  readonly balancer: Part;
  /** The database of the runs. */
  readonly database: string;
  /** The folder that all replicas have as their home: they are on one machine. */
  readonly home: string;
};

/** The agents of a cluster, by their names in the settings. */
export const clusterAgents = ["manus", "swe"] as const;

const root = resolve(import.meta.dir, "../../..");
const replicasOfEach = 2;
const address = (port: number) => `http://127.0.0.1:${port}`;

/** What replicas behind one address listen on: for callers, and for Restate. */
type Crew = {
  readonly name: string;
  readonly entry: string;
  readonly front: number;
  readonly driveFront: number;
  readonly ports: readonly { readonly own: number; readonly drive: number }[];
};

function crewOf(name: string, entry: string): Crew {
  const ports = Array.from({ length: replicasOfEach }, () => ({ own: freePort(), drive: freePort() }));
  return { name, entry: join(root, entry), front: freePort(), driveFront: freePort(), ports };
}

/**
 * Starts two gateways and two of each agent on Restate and PostgreSQL, with their homes, data and
 * logs below `folder`. `modelUrl` is the model of an agent. If a part cannot start, none is left.
 */
export async function startCluster(
  folder: string,
  { restateCount, modelUrl }: { readonly restateCount: number; readonly modelUrl: (agent: string) => string },
): Promise<Cluster> {
  const [home, logs] = [join(folder, "home"), join(folder, "logs")];
  await Promise.all([mkdir(home, { recursive: true }), mkdir(logs, { recursive: true })]);
  const gateway = crewOf("gateway", "gateway/src/server/main.ts");
  const agents = clusterAgents.map((name) => crewOf(name, `agents/${name}/src/server.ts`));
  const nodes = await restateNodes(folder, restateCount);
  const adminFront = freePort();
  const balancer = balancerPart([gateway, ...agents], { port: adminFront, nodes }, { folder, logs });
  await using starting = new AsyncDisposableStack();
  const started = (part: Pick<Part, "start" | "stop">) => {
    starting.defer(() => part.stop());
    return part.start();
  };
  const database = startPostgres();
  starting.defer(async () => (await database.catch(() => undefined))?.[Symbol.asyncDispose]());
  // The first node makes the cluster, and answers only once there is another.
  const [postgres] = await Promise.all([database, ...[balancer, ...nodes].map(started)]);
  const shared = {
    MANYHANDS_HOME: home,
    SANDBOX: "off",
    MANYHANDS_MODEL: "scripted",
    MANYHANDS_ENGINE_KIND: "restate",
    MANYHANDS_ENGINE_URL: await postgres.createDatabase(),
    MANYHANDS_ENGINE_RESTATE_INGRESS: nodes.map(({ ingress }) => ingress).join(),
    MANYHANDS_ENGINE_RESTATE_ADMIN: address(adminFront),
    ...Object.fromEntries(
      agents.map(({ name, front }) => [`${name.toUpperCase().replaceAll("-", "_")}_URL`, address(front)]),
    ),
  };
  const replicas = (crew: Crew) =>
    crew.ports.map(({ own, drive }, n) =>
      processPart(`${crew.name} ${n + 1}`, {
        command: [process.execPath, crew.entry],
        cwd: home,
        env: {
          ...shared,
          PORT: String(own),
          PUBLIC_URL: address(crew.front),
          MANYHANDS_ENGINE_RESTATE_PORT: String(drive),
          MANYHANDS_ENGINE_RESTATE_PUBLIC_URL: address(crew.driveFront),
          OPENAI_BASE_URL: modelUrl(crew.name),
          OPENAI_API_KEY: "none",
        },
        url: address(own),
        health: `${address(own)}/healthz`,
        log: join(logs, `${crew.name}-${n + 1}.log`),
      }),
    );
  const parts = { gateways: replicas(gateway), agents: agents.flatMap(replicas) };
  // The first one makes the schema.
  const [first, ...others] = [...parts.agents, ...parts.gateways];
  if (first) await started(first);
  await Promise.all(others.map(started));
  const stopping = starting.move();
  return {
    ...parts,
    url: address(gateway.front),
    restate: nodes.map((node, n) => ({ name: `restate ${n + 1}`, start: node.start, stop: node.stop })),
    postgres: { name: "postgres", start: postgres.start, stop: postgres.stop },
    balancer,
    database: shared.MANYHANDS_ENGINE_URL,
    home,
    [Symbol.asyncDispose]: () => stopping.disposeAsync(),
  };
}

function balancerPart(
  crews: readonly Crew[],
  admin: { readonly port: number; readonly nodes: readonly { readonly admin: string }[] },
  { folder, logs }: { readonly folder: string; readonly logs: string },
): Part {
  const fronts = crews.flatMap(({ front, driveFront, ports }) => {
    const health = (own: number) => `${address(own)}/healthz`;
    return [
      { port: front, replicas: ports.map(({ own }) => ({ port: own, health: health(own) })) },
      { port: driveFront, replicas: ports.map(({ own, drive }) => ({ port: drive, health: health(own) })) },
    ];
  });
  const ofAdmin = {
    port: admin.port,
    replicas: admin.nodes.map((node) => ({ port: Number(new URL(node.admin).port), health: `${node.admin}/health` })),
  };
  const statusPort = freePort();
  return processPart("balancer", {
    command: [
      process.execPath,
      resolve(import.meta.dir, "balancer-process.ts"),
      JSON.stringify({ statusPort, fronts: [...fronts, ofAdmin] }),
    ],
    cwd: folder,
    env: {},
    url: address(statusPort),
    log: join(logs, "balancer.log"),
  });
}
