import { agentApp } from "manyhands/internal/a2a/server/agent-app";
import { callerNamed } from "manyhands/internal/core/caller";
import type { FlowDefinition } from "manyhands/internal/core/flow";
import { flowExtension } from "manyhands/internal/flow/flow-extension";
import { admitToFlow } from "manyhands/internal/flow/flow-request";
import { serve } from "manyhands/internal/http/serve";
import type { FlowForTest } from "manyhands/internal/testing/flow";

/** A port on which a flow is served as an A2A agent once it exists: its address is known before. */
export type DoorForTest = AsyncDisposable & {
  readonly url: string;
  open(definition: FlowDefinition, flow: Pick<FlowForTest, "engine" | "artifacts">): void;
};

/** Reserves such a port. */
export function doorForTest(): DoorForTest {
  let app: ReturnType<typeof agentApp> | undefined;
  const served = serve(
    { fetch: (request) => app?.fetch(request) ?? new Response(null, { status: 503 }) },
    { port: 0, graceMs: 100 },
  );
  return {
    url: served.url.origin,
    open(definition, { engine, artifacts }) {
      app = agentApp({
        definition,
        facts: {
          publicUrl: served.url.origin,
          model: { name: "scripted", provider: "test" },
          sandbox: "none",
          extensions: [flowExtension(definition)],
        },
        engine,
        artifacts,
        identify: () => callerNamed("alice"),
        report: () => undefined,
        admit: (message) => admitToFlow(definition, message),
      });
    },
    [Symbol.asyncDispose]: () => served.stop(),
  };
}
