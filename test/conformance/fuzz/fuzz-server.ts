import { startKitAgent } from "../a2a-tck/kit-agent.ts";
import { startKitFlow, startKitGateway } from "../a2a-tck/kit-gateway.ts";

/** What a server under the fuzz says of itself, in megabytes. */
export type Memory = { readonly rss: number; readonly heap: number };

/** Where a server under the fuzz listens. */
export type Listening = { readonly url: string; readonly grpc: string };

/**
 * A server of the kit as a process of its own, whose memory can be measured: `agent`, `gateway` or
 * `flow`. It says where it listens, answers `memory`, and ends when its parent goes.
 */
const offered = {
  streaming: true,
  push: true,
  requiredExtensions: [],
  cardStyle: "merged",
  otherwise: "tck-complete-task",
} as const;
const before = { gateway: startKitGateway, flow: startKitFlow };
const subject = process.argv[2] as "agent" | keyof typeof before;

const agent = await startKitAgent({ ...offered, extendedCard: subject === "agent" });
const server = subject === "agent" ? agent : await before[subject]({ ...offered, extendedCard: true }, agent);

process.on("message", () => {
  Bun.gc(true);
  const { rss, heapUsed } = process.memoryUsage();
  process.send?.({ rss: rss / 2 ** 20, heap: heapUsed / 2 ** 20 } satisfies Memory);
});
process.on("disconnect", async () => {
  if (server !== agent) await server[Symbol.asyncDispose]();
  await agent[Symbol.asyncDispose]();
  process.exit();
});
process.send?.({ url: server.url, grpc: server.grpc } satisfies Listening);
