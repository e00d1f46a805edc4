import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWebhooks } from "manyhands/internal/a2a/push/webhooks";
import { loadConfig } from "manyhands/internal/config/config";
import type { TriggersConfig } from "manyhands/internal/config/triggers/trigger-config";
import { callerNamed, type Identify, localCaller } from "manyhands/internal/core/caller";
import { AppError } from "manyhands/internal/core/errors";
import type { FlowDefinition } from "manyhands/internal/core/flow";
import { type Engine, silentLog } from "manyhands/internal/core/runs/engine";
import type { QuotaConfig } from "manyhands/internal/core/runs/quota";
import type { RunDefinition } from "manyhands/internal/core/runs/run";
import type { AgentInput } from "manyhands/internal/core/runs/task";
import { askPerson } from "manyhands/internal/core/tools/question";
import type { ArtifactStore } from "manyhands/internal/core/workspace";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { profileFiles } from "manyhands/internal/machine/browser-profile/profile-files";
import { createProfileStore } from "manyhands/internal/machine/browser-profile/profile-store";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifacts/artifact-store";
import { createHomeFiles } from "manyhands/internal/machine/workspace/home-files";
import { keptFile } from "manyhands/internal/machine/workspace/own-files/kept-file";
import { createReadWorkspaces } from "manyhands/internal/machine/workspace/read-workspace";
import { createDeletions } from "manyhands/internal/runs/deletions";
import { createProjectionCache } from "manyhands/internal/runs/projection-cache";
import { createQuotas } from "manyhands/internal/runs/quotas";
import { kindsOf, type Runnable } from "manyhands/internal/runs/runnable";
import { openRuns } from "manyhands/internal/runs/runs";
import { openShared } from "manyhands/internal/server/storage/open-shared";
import { anyCard } from "manyhands/internal/testing/a2a/card";
import { flowList } from "../flows/flow-list.ts";
import { loadFlows } from "../flows/load-flows.ts";
import { runnablesOf } from "../flows/runnables.ts";
import { openRegistry, type Registry } from "../registry/registry.ts";
import { registryFile } from "../registry/registry-file.ts";
import { type GatewayApp, type GatewayAppDeps, gatewayApp } from "../server/gateway-app.ts";
import { openGatewayMemory } from "../server/open-gateway-memory.ts";
import { openSettings } from "../server/open-settings.ts";
import { openShares } from "../shares/share-store.ts";
import { openStarts, type StartsDeps } from "../starts/open-starts.ts";

/** A gateway on a free port, with flows that answer without any agent. */
export type TestGateway = AsyncDisposable & {
  readonly url: string;
  readonly engine: Engine;
  readonly artifacts: ArtifactStore;
  readonly registry: Registry;
  /** Its folder, with `manyhands.toml` and `mcp.json` if there are any. */
  readonly home: string;
  /** Its routes, as Hono has them. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  /** Answers a request without any network. */
  readonly fetch: GatewayApp["fetch"];
  /** The errors it reported as bugs. */
  readonly reported: readonly unknown[];
};

/** Fails on what is reported to it, and keeps it. */
function failing() {
  const reported: unknown[] = [];
  const fail = (bug: unknown) => {
    reported.push(bug);
    throw bug;
  };
  return { reported, fail };
}

/**
 * Starts one. Its flow `echo` returns its input; an input that begins with "ask" makes it ask
 * first, one that begins with "sleep" ends only when cancelled, and one that begins with "fail"
 * fails. `flows` are added to it. With a `token`, every request must carry it; `app` replaces parts
 * of its app, and `engine` wraps its engine for what it serves.
 */
export async function startGateway(
  options: {
    readonly token?: string;
    readonly flows?: readonly TestFlow[];
    readonly app?: Partial<
      Pick<
        GatewayAppDeps,
        | "identify"
        | "issuer"
        | "refused"
        | "cors"
        | "changePace"
        | "heartbeatMs"
        | "reachAgent"
        | "report"
        | "metrics"
        | "publicUrl"
      >
    >;
    readonly engine?: (real: Engine) => Engine;
    /** What principals may use; no limits if left out. */
    readonly quotas?: QuotaConfig;
    /** Its settings file. */
    readonly toml?: string;
    /** The environment of its settings. */
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<TestGateway> {
  const home = await mkdtemp(join(tmpdir(), "gateway-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const { reported, fail } = failing();
  const registry = await openRegistry({
    configured: [],
    file: registryFile(keptFile(join(home, "agents.json"))),
    policy: anyCard,
    everyMs: 3_600_000,
    reserved: [echo.name],
    report: fail,
  });
  const flows = [{ runnable: echo, execute: echoRun }, ...(options.flows ?? [])];
  const { settings, memory, composed, triggers } = await settingsForTest(home, options, registry);
  const all = () => flows.map(({ runnable }) => runnable).concat(composed.all());
  const runnables = { all, ofKind: (kind: string) => all().find((one) => kindsOf(one).includes(kind)) };
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: (request) => app.fetch(request) });
  const url = `http://127.0.0.1:${server.port}`;
  const served = options.engine?.(engine) ?? engine;
  const projections = createProjectionCache(served);
  const quotas = createQuotas(options.quotas);
  const deletions = createDeletions({ engine: served, files: createHomeFiles(home, artifacts) });
  const runs = openRuns({ engine: served, artifacts, projections, runnables, quotas, publicUrl: url });
  const starts = startsForTest(triggers, { engine: served, runs, runnables, publicUrl: url }, home);
  const app = gatewayApp({
    version: "0.0.0",
    publicUrl: url,
    hostname: "127.0.0.1",
    heartbeatMs: 500,
    engine: served,
    artifacts,
    registry,
    runnables,
    runs,
    deletions,
    workspaces: createReadWorkspaces(home),
    quotas,
    profiles: createProfileStore(profileFiles(home)),
    shares: openShares(keptFile(join(home, "shares.json"))),
    model: { name: "none", provider: "test" },
    facts: () => ({}),
    ...{ settings, starts, memory },
    identify: identifyBy(options.token),
    report: fail,
    ...options.app,
  });
  engine.work(flows.map(({ runnable: { kind }, execute }) => ({ kind, execute })));
  composed.each((kind) => engine.work([{ kind, execute: echoRun }]));
  return {
    url,
    home,
    engine,
    artifacts,
    registry,
    reported,
    ...app,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await settings.mcp.close();
      await registry.close();
      await engine.close({ graceMs: 0 });
      await rm(home, { recursive: true });
    },
  };
}

/**
 * Its settings, in files of its home. Composed flows are of the system's own; instead of their
 * bodies runs of them repeat what they are told.
 */
async function settingsForTest(
  home: string,
  { toml, env = {} }: { readonly toml?: string; readonly env?: Readonly<Record<string, string>> },
  registry: Registry,
) {
  if (toml !== undefined) await writeFile(join(home, "manyhands.toml"), toml);
  const config = await loadConfig({ cwd: home, env: { MANYHANDS_HOME: home, ...env } });
  const bases = await loadFlows(config);
  const flows = flowList(bases);
  const shared = await openShared(config);
  const log = { warn: () => undefined };
  const place = { cwd: home, env: { MANYHANDS_HOME: home, ...env } };
  const settings = openSettings({ ...place, config, flows, registry, shared, log });
  const isComposed = ({ settings }: FlowDefinition) => settings !== undefined;
  const composed = {
    all: () => runnablesOf([...flows].filter(isComposed), { list: () => [] }).all(),
    each: (listener: (name: string) => void) => flows.each((flow) => isComposed(flow) && listener(flow.name)),
  };
  return { settings, memory: openGatewayMemory(config, shared), composed, triggers: config.triggers };
}

function startsForTest(
  triggers: TriggersConfig,
  deps: Pick<StartsDeps, "engine" | "runs" | "runnables" | "publicUrl">,
  home: string,
) {
  const kept = keptFile(join(home, "schedules.json"));
  const webhooks = (allow: readonly string[]) => createWebhooks({ allow, deny: [], only: [] });
  return openStarts(triggers, { ...deps, kept, webhooks, tokens: undefined, log: silentLog });
}

/** Everything after the token is the principal's name. */
function identifyBy(token: string | undefined): Identify {
  return ({ headers }) => {
    if (token === undefined) return localCaller;
    const given = headers.get("authorization");
    if (given?.startsWith(`Bearer ${token}`) !== true) throw new AppError("unauthorized", "Send the token.");
    return callerNamed(given);
  };
}

/** A flow of a test: its description, and its body. */
export type TestFlow = { readonly runnable: Runnable; readonly execute: RunDefinition["execute"] };

/** A flow that repeats what it is told. */
export const echo: Runnable = {
  type: "flow",
  name: "echo",
  kind: "echo",
  title: "Echo",
  description: "Says its input back.",
  version: "1.0.0",
  skills: [{ id: "echo", name: "Echo", description: "Says it back.", tags: ["echo"], examples: [] }],
  options: { type: "object", properties: { loud: { type: "boolean" } } },
  admit({ parts }) {
    if (parts.every((part) => part.type !== "text")) throw new AppError("invalid_input", "input: say what to echo.");
    return {};
  },
};

/** Its body. */
export const echoRun: RunDefinition["execute"] = async (run, input) => {
  const { message, outputSchema } = input as AgentInput;
  const text = message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  run.emit({ type: "step-started", step: 1, maxSteps: 1 });
  if (text.startsWith("ask")) await askPerson(run, { question: "Really?", kind: "question" });
  if (text.startsWith("sleep")) await run.sleep(3_600_000);
  if (text.startsWith("fail")) throw new AppError("task_failed", "It was told to fail.");
  const file = message.parts.filter((part) => part.type === "file");
  if (file.length > 0) run.emit({ type: "artifact-added", artifactId: `${run.id}/file`, name: "file", parts: file });
  run.emit({
    type: "artifact-added",
    artifactId: `${run.id}/answer`,
    name: "answer",
    parts: [
      { type: "text", text },
      // A caller that asks for a form gets it back.
      ...(outputSchema === undefined ? [] : [{ type: "data" as const, data: outputSchema }]),
    ],
  });
  return { answer: text };
};
