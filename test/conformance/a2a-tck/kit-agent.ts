import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pushRun } from "manyhands/internal/a2a/push/push-run";
import type { Webhooks } from "manyhands/internal/a2a/push/webhooks";
import { type AgentApp, agentApp } from "manyhands/internal/a2a/server/agent-app";
import { serveGrpc } from "manyhands/internal/a2a/server/grpc/serve-grpc";
import { localCaller } from "manyhands/internal/core/caller";
import type { Engine } from "manyhands/internal/core/engine";
import type { JournalEvent } from "manyhands/internal/core/events";
import type { AgentInput } from "manyhands/internal/core/task";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { serve } from "manyhands/internal/http/serve";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifact-store";
import { definition } from "../../a2a/agent-server.ts";
import { behave } from "./behaviours.ts";

/** A server that the kit tests. */
export type KitServer = AsyncDisposable & { readonly url: string };

/** An agent with the kit's behaviours, over the three bindings. */
export async function startKitAgent({ webhooks }: { readonly webhooks?: Webhooks }): Promise<KitServer> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-kit-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const kind = definition.name;
  const report = (bug: unknown) => console.error(bug);
  let app: AgentApp | undefined;
  const identify = () => localCaller;
  const handlerOf = () => {
    if (app === undefined) throw new Error("not yet");
    return app.handler;
  };
  const grpc = await serveGrpc({ port: 0, hostname: "127.0.0.1", identify, report, handlerOf });
  const served = serve(
    { fetch: (request) => app?.fetch(request) ?? new Response(null, { status: 503 }) },
    { port: 0, graceMs: 200, drain: grpc.stop, close: () => engine.close({ graceMs: 100 }) },
  );
  const publicUrl = served.url.origin;
  app = agentApp({
    definition,
    facts: { publicUrl, grpc: { address: `127.0.0.1:${grpc.port}`, tenant: "" } },
    cardStyle: "strict",
    engine: forgetful(engine),
    artifacts,
    ...(webhooks && { webhooks }),
    identify,
    report,
  });
  engine.work(
    [
      {
        kind,
        async execute(run, input) {
          const { message } = input as AgentInput;
          const answer = await behave({ run, artifacts }, message);
          const parts = [{ type: "text" as const, text: answer }];
          run.emit({
            type: "artifact-added",
            artifactId: `${run.id}/answer`,
            name: "answer",
            parts,
          } satisfies JournalEvent);
          return { answer };
        },
      },
    ],
    { concurrency: 64 },
  );
  if (webhooks !== undefined)
    engine.work([pushRun({ kind, engine, webhooks, publicUrl })], { concurrency: 64, dedicatedPool: true });
  return {
    url: publicUrl,
    async [Symbol.asyncDispose]() {
      await served.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The kit reuses its messages' ids for other messages. */
function forgetful(engine: Engine): Engine {
  return { ...engine, start: ({ dedupe: _, ...run }) => engine.start(run) };
}
