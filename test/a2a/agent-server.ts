import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PushBounds, pushRun } from "manyhands/internal/a2a/push/push-run";
import type { Webhooks } from "manyhands/internal/a2a/push/webhooks";
import { type AgentApp, agentApp } from "manyhands/internal/a2a/server/agent-app";
import type { CardFacts, CardStyle } from "manyhands/internal/a2a/server/card";
import { serveGrpc } from "manyhands/internal/a2a/server/grpc/serve-grpc";
import type { AgentDefinition } from "manyhands/internal/core/agent";
import { callerNamed, type Identify, principalHeader, scopes } from "manyhands/internal/core/caller";
import { AppError } from "manyhands/internal/core/errors";
import type { Engine } from "manyhands/internal/core/runs/engine";
import type { QuotaConfig } from "manyhands/internal/core/runs/quota";
import type { ArtifactStore } from "manyhands/internal/core/workspace";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { type ConnectionGuard, serve } from "manyhands/internal/http/serve";
import { createQuotas } from "manyhands/internal/runs/quotas";
import { agentName, scriptedAgent } from "./scripted-agent.ts";

/** A scripted agent on a real port, with a real engine on a real file. */
export type AgentServer = {
  readonly url: string;
  /** Where it serves gRPC. */
  readonly grpc: string;
  readonly engine: Engine;
  readonly reported: unknown[];
  /** Its routes, as Hono has them. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  stop(): Promise<void>;
};

/** The definition whose card the server shows. */
export const definition: AgentDefinition = {
  name: agentName,
  title: "Scripted agent",
  description: "Does what the first word of a message says.",
  version: "1.2.3",
  skills: [{ id: "obey", name: "Obey", description: "Does as it is told.", tags: ["test"], examples: ["answer yes"] }],
  instructions: "",
  tools: [],
  limits: {
    steps: 10,
    tokens: 1000,
    usd: 1,
    wallMs: 60_000,
    callsPerTurn: 4,
    parallelCalls: 2,
    resultCharacters: 1000,
  },
  toolChoice: "auto",
};

/** Starts a server; the `X-User` header names the caller, `X-Scopes` what it may do;
 * "nobody" is refused. `Manyhands-Principal` is taken from everybody. */
export async function startAgentServer(
  options: {
    heartbeatMs?: number;
    /** Milliseconds that running requests get after a stop. */
    graceMs?: number;
    engine?: (real: Engine) => Engine;
    home?: string;
    port?: number;
    guard?: ConnectionGuard;
    /** The receivers allowed for notifications; without it none are sent. */
    webhooks?: Webhooks;
    pushBounds?: Partial<PushBounds>;
    cardStyle?: CardStyle;
    security?: CardFacts["security"];
    keys?: CardFacts["keys"];
    dedupeMs?: number;
    requiredExtensions?: readonly string[];
    cors?: readonly string[];
    /** What principals may use. */
    quotas?: QuotaConfig;
  } = {},
): Promise<AgentServer> {
  const home = options.home ?? (await mkdtemp(join(tmpdir(), "a2a-test-")));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  engine.work([scriptedAgent], { concurrency: 64 });
  const reported: unknown[] = [];
  let app: AgentApp | undefined;
  const report = (bug: unknown) => reported.push(bug);
  const grpc = await serveGrpc({
    port: 0,
    hostname: "127.0.0.1",
    guard: options.guard,
    identify: callerOf,
    report,
    handlerOf: (tenant) => {
      if (app === undefined || !["", agentName].includes(tenant))
        throw new AppError("not_found", "There is no such tenant");
      return app.handler;
    },
    ...(options.heartbeatMs === undefined ? {} : { heartbeatMs: options.heartbeatMs }),
  });
  const served = serve(
    { fetch: (request) => app?.fetch(request) ?? new Response(null, { status: 503 }) },
    {
      port: options.port ?? 0,
      graceMs: options.graceMs ?? 200,
      drain: grpc.stop,
      close: () => engine.close({ graceMs: 100 }),
    },
  );
  const publicUrl = served.url.origin;
  app = agentApp({
    definition,
    facts: {
      publicUrl,
      grpc: { address: `127.0.0.1:${grpc.port}`, tenant: "" },
      model: { name: "test-model", provider: "rehearsal" },
      sandbox: "none",
      ...(options.security && { security: options.security }),
      ...(options.keys && { keys: options.keys }),
    },
    cardStyle: options.cardStyle,
    ...(options.dedupeMs !== undefined && { dedupeMs: options.dedupeMs }),
    ...(options.requiredExtensions && { requiredExtensions: options.requiredExtensions }),
    ...(options.cors && { cors: options.cors }),
    ...(options.quotas && { quotas: createQuotas(options.quotas) }),
    engine: options.engine?.(engine) ?? engine,
    artifacts: folderArtifacts(join(home, "artifacts")),
    identify: callerOf,
    report,
    ...(options.heartbeatMs === undefined ? {} : { heartbeatMs: options.heartbeatMs }),
    ...(options.webhooks && { webhooks: options.webhooks }),
  });
  const { webhooks, pushBounds: bounds, keys } = options;
  const push =
    webhooks &&
    pushRun({ kind: agentName, engine, webhooks, publicUrl, ...(bounds && { bounds }), ...(keys && { keys }) });
  if (push !== undefined) engine.work([push], { concurrency: 64, dedicatedPool: true });
  return {
    url: publicUrl,
    grpc: `127.0.0.1:${grpc.port}`,
    engine,
    reported,
    routes: app.routes,
    async stop() {
      await served.stop();
      if (options.home === undefined) await rm(home, { recursive: true, force: true });
    },
  };
}

const callerOf: Identify = (request) => {
  const told = request.headers.get(principalHeader);
  if (told !== null) return { ...callerNamed(told, ["read", "run"]), relayed: true };
  const user = request.headers.get("X-User") ?? "local";
  if (user === "nobody") throw new AppError("unauthorized", "Say who you are");
  const granted = request.headers.get("X-Scopes")?.split(" ");
  return callerNamed(user, granted && scopes.filter((scope) => granted.includes(scope)));
};

/** Files by content hash in one folder. */
function folderArtifacts(folder: string): ArtifactStore {
  const describe: ArtifactStore["describe"] = (bytes, { name, mediaType = "application/octet-stream" }) => {
    const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
    return { sha256, name, mediaType, size: bytes.byteLength };
  };
  return {
    describe,
    async put(content, about) {
      const bytes = new Uint8Array(await new Response(content as Uint8Array<ArrayBuffer>).arrayBuffer());
      const stored = describe(bytes, about);
      await Bun.write(join(folder, stored.sha256), bytes);
      return stored;
    },
    async get(sha256) {
      const file = Bun.file(join(folder, sha256));
      return (await file.exists()) ? file : undefined;
    },
  };
}
