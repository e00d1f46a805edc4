import { connect, createServer, type Socket } from "node:net";
import * as z from "zod";

/**
 * A balancer as a process of its own: passes TCP connections on to replicas, and cuts those of a
 * replica that hangs. The kernel accepts connections for a process that hangs, and Restate cannot
 * tell either, so each replica is asked for its health; any answer will do.
 */
const settingsSchema = z.object({
  /** Where it answers once it balances. */
  statusPort: z.number(),
  fronts: z.array(
    z.object({
      port: z.number(),
      replicas: z.array(z.object({ port: z.number(), health: z.string() })).min(1),
    }),
  ),
});

const checkEveryMs = 500;
const answeredWithinMs = 1_000;
/** Fewer may be a busy machine. */
const missesUntilDown = 3;

type Replica = { readonly port: number; readonly health: string; readonly sockets: Set<Socket>; misses: number };

function main({ statusPort, fronts }: z.output<typeof settingsSchema>): void {
  for (const { port, replicas } of fronts) {
    const known = replicas.map((one): Replica => ({ ...one, sockets: new Set(), misses: 0 }));
    let turn = 0;
    const server = createServer((client) => {
      client.on("error", () => undefined);
      const from = turn++ % known.length;
      const inTurn = [...known.slice(from), ...known.slice(0, from)];
      attempt(client, [...inTurn.filter(isUp), ...inTurn.filter((one) => !isUp(one))]);
    });
    server.listen(port, "127.0.0.1");
    for (const replica of known) void watch(replica);
  }
  Bun.serve({ port: statusPort, hostname: "127.0.0.1", fetch: () => new Response("balancing") });
}

const isUp = ({ misses }: Replica) => misses < missesUntilDown;

/** Connects the client to the first of these replicas that accepts. */
function attempt(client: Socket, [replica, ...others]: readonly Replica[]): void {
  if (replica === undefined) return void client.destroy();
  const backend = connect(replica.port, "127.0.0.1");
  let isOpen = false;
  backend.once("connect", () => {
    isOpen = true;
    replica.sockets.add(backend);
    client.pipe(backend).pipe(client);
  });
  backend.on("error", () => (isOpen ? client.destroy() : attempt(client, others)));
  backend.on("close", () => {
    replica.sockets.delete(backend);
    if (isOpen) client.destroy();
  });
  client.on("close", () => backend.destroy());
}

async function watch(replica: Replica): Promise<never> {
  for (;;) {
    const answer = await fetch(replica.health, { signal: AbortSignal.timeout(answeredWithinMs) }).catch(
      () => undefined,
    );
    await answer?.body?.cancel();
    replica.misses = answer === undefined ? replica.misses + 1 : 0;
    if (!isUp(replica)) for (const socket of replica.sockets) socket.destroy();
    await Bun.sleep(checkEveryMs);
  }
}

if (import.meta.main) main(settingsSchema.parse(JSON.parse(process.argv[2] ?? "{}")));
