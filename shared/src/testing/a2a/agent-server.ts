import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentApp } from "../../a2a/server/agent-app.ts";
import type { ApprovalPolicy } from "../../agent/act/plan-call.ts";
import { agentRun } from "../../agent/agent-run.ts";
import { defineAgent } from "../../agent/define-agent.ts";
import type { ModelPauses } from "../../agent/model-call/retrying-step.ts";
import { releasingEngine } from "../../agent/release-tools.ts";
import type { AgentDefinition } from "../../core/agent.ts";
import { createKeyedQueue } from "../../core/async/keyed-queue.ts";
import { callerNamed, principalHeader } from "../../core/caller.ts";
import type { Engine, RunRecord } from "../../core/runs/engine.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { ArtifactStore } from "../../core/workspace.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { serve } from "../../http/serve.ts";
import { createArtifactStore } from "../../machine/workspace/artifacts/artifact-store.ts";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { modelConfigSchema } from "../../models/config.ts";
import { createModel } from "../../models/create-model.ts";
import { createStrReplaceEditor } from "../../tools/files/str-replace-editor.ts";
import { askHuman } from "../../tools/human/ask-human.ts";
import { type ModelScript, type ScriptedModel, startScriptedModel } from "../models/scripted-model.ts";

/** An agent on a real port, with a scripted model. */
export type AgentServerForTest = AsyncDisposable & {
  readonly url: string;
  readonly engine: Engine;
  /** Its file of runs. */
  readonly store: string;
  readonly model: ScriptedModel;
  /** The tasks it has. */
  tasks(): Promise<readonly RunRecord[]>;
};

type Options = {
  readonly script: ModelScript;
  /** A function if tools need the server's engine or artifacts. */
  readonly tools?:
    | readonly Tool[]
    | ((deps: { readonly engine: Engine; readonly artifacts: ArtifactStore }) => readonly Tool[]);
  readonly approval?: ApprovalPolicy;
  readonly agent?: Partial<AgentDefinition>;
  /** Retries of its model; the usual number if left out. */
  readonly maxRetries?: number;
  readonly modelPauses?: ModelPauses;
  /** Further settings of its model. */
  readonly model?: object;
};

/** Starts an agent for a test; `await using` stops it. */
export async function agentServerForTest(options: Options): Promise<AgentServerForTest> {
  const { script, tools, approval, agent, maxRetries, modelPauses, model: about } = options;
  const home = await mkdtemp(join(tmpdir(), "manyhands-peer-"));
  const model = await startScriptedModel(script);
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const store = join(home, "runs.db");
  const engine = createEmbeddedEngine({ path: store });
  const open = (principal: string, contextId: string) => openWorkspace({ home, principal, contextId });
  const definition = defineAgent({
    name: "helper",
    title: "Helper",
    description: "Helps.",
    version: "1.0.0",
    skills: [{ id: "help", name: "Help", description: "Does what it is told.", tags: ["test"], examples: [] }],
    instructions: "Help.",
    tools: (typeof tools === "function" ? tools({ engine, artifacts }) : tools) ?? [
      createStrReplaceEditor(createKeyedQueue()),
      askHuman(),
    ],
    ...agent,
  });
  const config = modelConfigSchema.parse({
    name: "scripted",
    baseUrl: model.url,
    ...(maxRetries !== undefined && { maxRetries }),
    price: { inputPerMillion: 1, outputPerMillion: 2 },
    ...about,
  });
  const deps = {
    model: createModel(config),
    engine,
    artifacts,
    openWorkspace: open,
    ...(approval && { approval }),
    ...(modelPauses && { modelPauses }),
  };
  engine.work([agentRun(definition, deps)]);
  let app: ReturnType<typeof agentApp> | undefined;
  const served = serve(
    { fetch: (request) => app?.fetch(request) ?? new Response(null, { status: 503 }) },
    { port: 0, graceMs: 100, close: () => engine.close({ graceMs: 100 }) },
  );
  app = agentApp({
    definition,
    facts: { publicUrl: served.url.origin, model: { name: "scripted", provider: "test" }, sandbox: "none" },
    engine: releasingEngine(engine, async () => definition, { openWorkspace: open }),
    artifacts,
    identify: ({ headers }) => callerNamed(headers.get(principalHeader) ?? "local"),
    report: () => undefined,
  });
  return {
    url: served.url.origin,
    engine,
    store,
    model,
    tasks: async () => (await engine.list({ kind: definition.name, limit: 100 })).runs,
    async [Symbol.asyncDispose]() {
      await served.stop();
      await model.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
