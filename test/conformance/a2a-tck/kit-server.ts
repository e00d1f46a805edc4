import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWebhooks, type Webhooks } from "manyhands/internal/a2a/push/webhooks";
import type { AgentApp } from "manyhands/internal/a2a/server/agent-app";
import type { CardStyle } from "manyhands/internal/a2a/server/card";
import { type GrpcOptions, serveGrpc } from "manyhands/internal/a2a/server/grpc/serve-grpc";
import { localCaller } from "manyhands/internal/core/caller";
import { AppError } from "manyhands/internal/core/errors";
import type { Engine } from "manyhands/internal/core/runs/engine";
import type { ArtifactStore } from "manyhands/internal/core/workspace";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { serve } from "manyhands/internal/http/serve";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifacts/artifact-store";

/** A server that a kit tests, at this address. */
export type KitServer = AsyncDisposable & {
  readonly url: string;
  /** Where it serves gRPC. */
  readonly grpc: string;
};

/**
 * What is optional in A2A and offered by a server or not, the card for those who name no version,
 * and what the kits expect of a server beyond A2A.
 */
export type KitCapabilities = {
  readonly streaming: boolean;
  readonly push: boolean;
  /** Who calls is known as the operator, without credentials, which the kits have none of. */
  readonly extendedCard: boolean;
  /** The URIs of extensions that every call has to activate. */
  readonly requiredExtensions: readonly string[];
  readonly cardStyle: CardStyle;
  /** What a message gets that names no behaviour. */
  readonly otherwise: "tck-complete-task" | "tck-input-required";
};

/** Both ports of a server, with what it needs, until it is opened. */
export type KitPorts = KitServer & {
  readonly home: string;
  readonly engine: Engine;
  readonly artifacts: ArtifactStore;
  /** The receiver of a kit's notifications is on this machine. */
  readonly webhooks: Webhooks;
  open(app: Pick<AgentApp, "fetch"> & Pick<GrpcOptions, "handlerOf">): void;
};

/** Listens on free ports, with a home of its own. */
export async function openPorts(): Promise<KitPorts> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-kit-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  let app: Parameters<KitPorts["open"]>[0] | undefined;
  const grpc = await serveGrpc({
    port: 0,
    hostname: "127.0.0.1",
    identify,
    report,
    handlerOf(tenant) {
      if (app === undefined) throw new AppError("unavailable", "It is starting.");
      return app.handlerOf(tenant);
    },
  });
  const served = serve(
    { fetch: (request) => app?.fetch(request) ?? new Response(null, { status: 503 }) },
    { port: 0, graceMs: 200, drain: grpc.stop, close: () => engine.close({ graceMs: 100 }) },
  );
  return {
    url: served.url.origin,
    grpc: `127.0.0.1:${grpc.port}`,
    home,
    engine,
    artifacts: createArtifactStore(join(home, "artifacts")),
    webhooks: createWebhooks({ allow: ["localhost", "127.0.0.1"], deny: [], only: [] }),
    open(given) {
      app = given;
    },
    async [Symbol.asyncDispose]() {
      await served.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The kits say of nobody who calls. */
export const identify = () => localCaller;

/** What no kit may cause. */
export function report(bug: unknown): void {
  console.error("A bug:", bug);
}
