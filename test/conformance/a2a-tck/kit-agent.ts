import { pushRun } from "manyhands/internal/a2a/push/push-run";
import { agentApp } from "manyhands/internal/a2a/server/agent-app";
import { cardSecurity } from "manyhands/internal/auth/security";
import type { JournalEvent } from "manyhands/internal/core/events/events";
import type { RunDefinition } from "manyhands/internal/core/runs/run";
import type { AgentInput } from "manyhands/internal/core/runs/task";
import { definition } from "../../a2a/agent-server.ts";
import { behave } from "./behaviours.ts";
import { identify, type KitCapabilities, type KitPorts, type KitServer, openPorts, report } from "./kit-server.ts";

/** An agent with the kit's behaviours, over the three bindings. */
export async function startKitAgent(capabilities: KitCapabilities): Promise<KitServer> {
  const { streaming, push, extendedCard, requiredExtensions, cardStyle, otherwise } = capabilities;
  const server = await openPorts();
  const { engine, artifacts, webhooks, url: publicUrl } = server;
  const app = agentApp({
    definition,
    facts: {
      publicUrl,
      streaming,
      grpc: { address: server.grpc, tenant: "" },
      ...(extendedCard && { security: cardSecurity() }),
    },
    requiredExtensions,
    cardStyle,
    engine,
    artifacts,
    dedupeMs: 0,
    ...(push && { webhooks }),
    identify,
    report,
  });
  engine.work([kitRun(server, otherwise)], { concurrency: 64 });
  const notify = pushRun({ kind: definition.name, engine, webhooks, publicUrl });
  engine.work([notify], { concurrency: 64, dedicatedPool: true });
  server.open({ fetch: app.fetch, handlerOf: () => app.handler });
  return server;
}

function kitRun({ artifacts }: KitPorts, otherwise: KitCapabilities["otherwise"]): RunDefinition {
  return {
    kind: definition.name,
    async execute(run, input) {
      const { message } = input as AgentInput;
      const output = await behave({ run, artifacts, otherwise }, message);
      const parts = [{ type: "text" as const, text: output.answer }];
      run.emit({
        type: "artifact-added",
        artifactId: `${run.id}/answer`,
        name: "answer",
        parts,
      } satisfies JournalEvent);
      return output;
    },
  };
}
