import { join } from "node:path";
import { createPeers } from "manyhands/internal/a2a/ask/peers";
import { cardSecurity } from "manyhands/internal/auth/security";
import type { FlowDefinition } from "manyhands/internal/core/flow";
import type { Json } from "manyhands/internal/core/json";
import type { UserMessage } from "manyhands/internal/core/message";
import { mapBodies } from "manyhands/internal/core/runs/bodies";
import type { Engine } from "manyhands/internal/core/runs/engine";
import type { RunDefinition } from "manyhands/internal/core/runs/run";
import type { AgentInput } from "manyhands/internal/core/runs/task";
import { profileFiles } from "manyhands/internal/machine/browser-profile/profile-files";
import { createProfileStore } from "manyhands/internal/machine/browser-profile/profile-store";
import { keptFile } from "manyhands/internal/machine/workspace/own-files/kept-file";
import { createProjectionCache } from "manyhands/internal/runs/projection-cache";
import { createQuotas } from "manyhands/internal/runs/quotas";
import { openRuns } from "manyhands/internal/runs/runs";
import { anyCard } from "manyhands/internal/testing/a2a/card";
import * as z from "zod";
import { agentFlow } from "../../../gateway/src/flows/agent-flow.ts";
import { agentsOfRegistry } from "../../../gateway/src/flows/agents-of-registry.ts";
import { runnablesOf } from "../../../gateway/src/flows/runnables.ts";
import { openRegistry } from "../../../gateway/src/registry/registry.ts";
import { registryFile } from "../../../gateway/src/registry/registry-file.ts";
import { adapterUrl } from "../../../gateway/src/server/adapter-url.ts";
import { gatewayApp } from "../../../gateway/src/server/gateway-app.ts";
import { gatewayEngine, workOn } from "../../../gateway/src/server/gateway-engine.ts";
import { openShares } from "../../../gateway/src/shares/share-store.ts";
import { modelForTest } from "../../../shared/src/testing/flow.ts";
import { behave } from "./behaviours.ts";
import { identify, type KitCapabilities, type KitPorts, type KitServer, openPorts, report } from "./kit-server.ts";

/** What the gateway calls the agent. */
const name = "kit";

/** An agent with the kit's behaviours behind a gateway, at its address there. */
export async function startKitGateway(capabilities: KitCapabilities, agent: KitServer): Promise<KitServer> {
  return startGateway(capabilities, { agent: agent.url });
}

/** A flow of a gateway with the kit's behaviours, at its address there; a flow needs an agent. */
export async function startKitFlow(capabilities: KitCapabilities, agent: KitServer): Promise<KitServer> {
  return startGateway(capabilities, { flow: kitFlow, agent: agent.url });
}

/** A flow over what a server has. */
type MakeFlow = (server: KitPorts, capabilities: KitCapabilities) => FlowDefinition;

async function startGateway(
  capabilities: KitCapabilities,
  { flow, agent }: { readonly flow?: MakeFlow; readonly agent?: string },
): Promise<KitServer> {
  const { streaming, push, extendedCard, requiredExtensions, cardStyle } = capabilities;
  const server = await openPorts();
  const { engine, artifacts, webhooks, url: publicUrl } = server;
  const flows = flow === undefined ? [] : [flow(server, capabilities)];
  const registry = await openRegistry({
    configured: agent === undefined ? [] : [{ name, url: agent, token: undefined }],
    file: registryFile(keptFile(join(server.home, "agents.json"))),
    policy: anyCard,
    everyMs: 3_600_000,
    reserved: [],
    report,
  });
  const peers = createPeers({
    engine,
    artifacts,
    connect: (address, signal) => registry.connect(address, signal ?? AbortSignal.timeout(60_000)),
  });
  const agents = agentsOfRegistry(registry, flows, publicUrl);
  const deps = { model: modelForTest("http://127.0.0.1:1"), peers, agents, push: { engine, webhooks } };
  const shown = flows[0]?.name ?? name;
  const url = adapterUrl(publicUrl, shown);
  for (const one of flows) workOn(one, url, engine, deps);
  registry.eachAgent((one) => workOn(agentFlow(one, engine), url, namingMessages(engine), deps));
  await registry.refresh();
  const runnables = runnablesOf(flows, registry);
  const guarded = gatewayEngine(engine, { isOurs: () => true, agentOf: () => undefined });
  const quotas = createQuotas();
  const runs = openRuns({
    engine: guarded,
    artifacts,
    projections: createProjectionCache(engine),
    runnables,
    quotas,
    publicUrl,
  });
  const app = gatewayApp({
    version: "1.0.0",
    publicUrl,
    hostname: "127.0.0.1",
    engine: guarded,
    a2a: { dedupeMs: 0, requiredExtensions },
    artifacts,
    registry,
    runnables,
    runs,
    quotas,
    profiles: createProfileStore(profileFiles(server.home)),
    shares: openShares(keptFile(join(server.home, "shares.json"))),
    model: { name: "none", provider: "rehearsal" },
    facts: (one) => ({
      streaming,
      grpc: { address: server.grpc, tenant: one.name },
      ...(extendedCard && { security: cardSecurity() }),
    }),
    ...(push && { webhooks }),
    cardStyle,
    identify,
    report,
  });
  // The kit names no tenant, though the card does.
  server.open({ fetch: app.fetch, handlerOf: (tenant) => app.handlerOf(tenant || shown) });
  return {
    url,
    grpc: server.grpc,
    async [Symbol.asyncDispose]() {
      await registry.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/**
 * A message's id stays here when its text goes on to an agent, so the text begins with it where it
 * names a behaviour.
 */
function namingMessages(engine: Engine): Engine {
  const naming = (definition: RunDefinition): RunDefinition =>
    mapBodies(definition, (execute) => (run, input) => {
      const { message } = (input ?? {}) as { message?: UserMessage };
      if (message === undefined || !/^(tck|test)-/.test(message.messageId)) return execute(run, input);
      const parts = [{ type: "text" as const, text: message.messageId }, ...message.parts];
      return execute(run, { ...(input as AgentInput), message: { ...message, parts } });
    });
  return { ...engine, work: (runs, options) => engine.work(runs.map(naming), options) };
}

const kitFlow: MakeFlow = ({ engine, artifacts }, { otherwise }) => ({
  name: "kit-flow",
  title: "Kit",
  description: "Does what a kit asks for.",
  version: "1.0.0",
  skills: [{ id: "kit", name: "Kit", description: "Does what a kit asks for.", tags: ["test"], examples: [] }],
  options: z.strictObject({}),
  example: { text: "tck-complete-task" },
  async perform({ run }) {
    const message = await run.step("message", async () => ((await engine.events(run.id))[0]?.event ?? {}) as Json);
    return behave({ run, artifacts, otherwise }, message as unknown as UserMessage);
  },
});
