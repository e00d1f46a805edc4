import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RiskPolicy } from "../../agent/act/judge-risk.ts";
import type { ApprovalPolicy } from "../../agent/act/plan-call.ts";
import { agentRun } from "../../agent/agent-run.ts";
import { defineAgent } from "../../agent/define-agent.ts";
import type { ModelPauses } from "../../agent/model-call/retrying-step.ts";
import { releasingEngine } from "../../agent/release-tools.ts";
import type { AgentDefinition } from "../../core/agent.ts";
import type { ReadEvent } from "../../core/events/events.ts";
import { readEvent } from "../../core/events/read-event.ts";
import type { Recall } from "../../core/memory.ts";
import { messageSignal, type Part } from "../../core/message.ts";
import type { Engine, RunRecord } from "../../core/runs/engine.ts";
import type { AgentInput } from "../../core/runs/task.ts";
import type { Tool, ToolFetch } from "../../core/tools/tool.ts";
import type { ArtifactStore, Workspace } from "../../core/workspace.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import type { MachineClock } from "../../durable/sqlite/machine-clock.ts";
import { createArtifactStore } from "../../machine/workspace/artifacts/artifact-store.ts";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { modelConfigSchema } from "../../models/config.ts";
import { createModel } from "../../models/create-model.ts";
import { type ModelScript, type ScriptedModel, startScriptedModel } from "../models/scripted-model.ts";

type Options = {
  readonly script: ModelScript;
  readonly tools?: readonly Tool[];
  readonly agent?: Partial<Omit<AgentDefinition, "limits">> & { readonly limits?: Partial<AgentDefinition["limits"]> };
  readonly model?: object;
  readonly approval?: ApprovalPolicy;
  readonly risky?: RiskPolicy;
  readonly modelPauses?: ModelPauses;
  readonly recall?: Recall;
  /** The web for its tools; none if left out. */
  readonly fetch?: ToolFetch;
  /** Milliseconds to add to the time that really passed. */
  readonly passed?: () => number;
};

/** Who starts a task, and in which conversation. */
type Sender = { readonly principal: string; readonly contextId: string };

/**
 * An agent on a real engine, with a real workspace and a scripted model, in a folder that
 * `await using` removes.
 */
export type AgentForTest = AsyncDisposable & {
  /** Its folder, with `runs.db`. */
  readonly home: string;
  readonly engine: Engine;
  readonly model: ScriptedModel;
  readonly artifacts: ArtifactStore;
  readonly workspace: Workspace;
  /** Starts a task and returns its id. */
  start(
    text: string,
    more?: { parts?: readonly Part[]; from?: Partial<Sender> } & Partial<AgentInput>,
  ): Promise<string>;
  /** Sends a later message on a task. */
  say(id: string, text: string, parts?: readonly Part[]): Promise<void>;
  /** The run once it has one of these states; fails after ten seconds. */
  until(id: string, ...statuses: RunRecord["status"][]): Promise<RunRecord>;
  /** Starts a task and waits for its end. */
  run(text: string, more?: Parameters<AgentForTest["start"]>[1]): Promise<{ record: RunRecord; events: ReadEvent[] }>;
  events(id: string): Promise<ReadEvent[]>;
  /**
   * Closes the engine as a stopping server does, and opens another on the same file with these
   * options changed.
   */
  restart(changes: Partial<Omit<Options, "script">>): Promise<void>;
};

function clockAhead(passed: () => number): MachineClock {
  return { boot: "a test's", wall: () => Date.now() + passed(), uptime: () => performance.now() + passed() };
}

async function untilOne(engine: Engine, id: string, statuses: readonly RunRecord["status"][]): Promise<RunRecord> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(5)) {
    const record = await engine.get(id);
    if (record !== undefined && statuses.includes(record.status)) return record;
  }
  throw new Error(`run ${id} is not ${statuses.join(" or ")}: ${JSON.stringify(await engine.get(id))}`);
}

/** Creates one. For tests. */
export async function agentForTest(options: Options): Promise<AgentForTest> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-"));
  const model = await startScriptedModel(options.script);
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const open = (principal: string, contextId: string) => openWorkspace({ home, principal, contextId });
  const work = (current: Options) => {
    const engine = createEmbeddedEngine({
      path: join(home, "runs.db"),
      ...(options.passed && { clock: clockAhead(options.passed) }),
    });
    const deps = {
      model: createModel(modelConfigSchema.parse({ name: "scripted", baseUrl: model.url, ...current.model })),
      engine,
      artifacts,
      openWorkspace: open,
      ...chosenDeps(current),
    };
    const definition = definitionForTest(current);
    engine.work([agentRun(definition, deps)]);
    return releasingEngine(engine, async () => definition, deps);
  };
  let engine = work(options);
  const events = async (id: string) => (await engine.events(id)).map(({ event }) => readEvent(event));
  const until: AgentForTest["until"] = (id, ...statuses) => untilOne(engine, id, statuses);
  const start: AgentForTest["start"] = async (text, more = {}) => {
    const { parts: added = [], from = {}, ...options } = more;
    const parts = [{ type: "text", text } as const, ...added];
    const message = { messageId: crypto.randomUUID(), parts };
    const input = { message, hops: 0, ...options };
    const said = { type: "message-received", ...message } as const;
    const { run } = await engine.start({
      kind: "tester",
      input,
      principal: "alice",
      contextId: "c1",
      ...from,
      events: [said],
    });
    return run.id;
  };
  return {
    home,
    get engine() {
      return engine;
    },
    model,
    artifacts,
    workspace: await open("alice", "c1"),
    start,
    until,
    events,
    async say(id, text, added = []) {
      const message = { messageId: crypto.randomUUID(), parts: [{ type: "text", text } as const, ...added] };
      const said = { type: "message-received", ...message } as const;
      await engine.deliver(id, messageSignal, message, { id: message.messageId, events: [said] });
    },
    async run(text, more) {
      const id = await start(text, more);
      const record = await until(id, "completed", "failed", "canceled", "paused");
      return { record, events: await events(id) };
    },
    async restart(changes) {
      await engine.close({ graceMs: 0 });
      engine = work({ ...options, ...changes });
    },
    async [Symbol.asyncDispose]() {
      await engine.close({ graceMs: 0 });
      await model.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

function chosenDeps({ approval, risky, modelPauses, recall, fetch }: Options) {
  return {
    ...(approval && { approval }),
    ...(risky && { risky }),
    ...(modelPauses && { modelPauses }),
    ...(recall && { recall }),
    ...(fetch && { fetch }),
  };
}

function definitionForTest({ tools = [], agent = {} }: Options): AgentDefinition {
  const { limits, ...rest } = agent;
  return defineAgent({
    name: "tester",
    title: "Tester",
    description: "An agent under test.",
    version: "1.0.0",
    skills: [],
    instructions: "You are under test.",
    tools,
    ...rest,
    ...(limits && { limits }),
  });
}
