import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cancelChildrenRun, engineCancellingChildren } from "../a2a/ask/cancel-children.ts";
import { createPeers } from "../a2a/ask/peers.ts";
import type { AgentEntry, Agents } from "../core/agent.ts";
import { createKeyedQueue } from "../core/async/keyed-queue.ts";
import type { ReadEvent } from "../core/events/events.ts";
import { readEvent } from "../core/events/read-event.ts";
import type { FlowDefinition } from "../core/flow.ts";
import { messageSignal, type Part } from "../core/message.ts";
import type { Engine, RunRecord } from "../core/runs/engine.ts";
import { type AgentInput, type AgentOutput, type FlowSettings, settingsMetadata } from "../core/runs/task.ts";
import type { ArtifactStore } from "../core/workspace.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { flowRun } from "../flow/flow-run.ts";
import type { FlowLimits } from "../flow/flow-state.ts";
import { createArtifactStore } from "../machine/workspace/artifacts/artifact-store.ts";
import { modelConfigSchema } from "../models/config.ts";
import { createModel } from "../models/create-model.ts";
import { extractDocument } from "../tools/documents/extract-document.ts";
import { createStrReplaceEditor } from "../tools/files/str-replace-editor.ts";
import { askHuman } from "../tools/human/ask-human.ts";
import { terminate } from "../tools/human/terminate.ts";
import { type AgentServerForTest, agentServerForTest } from "./a2a/agent-server.ts";
import { type ModelScript, type ScriptedModel, startScriptedModel } from "./models/scripted-model.ts";

/**
 * A flow on a real engine, with agents on real ports. Whatever their names, they have tools for
 * files and questions and no others: an agent of yours is tested by itself, with `testAgent`.
 * `await using` removes it all.
 */
export type FlowForTest = AsyncDisposable & {
  readonly engine: Engine;
  readonly artifacts: ArtifactStore;
  /** The flow's own model. */
  readonly model: ScriptedModel;
  agent(name: string): AgentServerForTest;
  start(request: FlowStart): Promise<string>;
  /** Starts a run and waits for its end. */
  run(
    request: FlowStart,
  ): Promise<{ readonly record: RunRecord; readonly events: ReadEvent[]; readonly answer: string }>;
  until(id: string, ...statuses: RunRecord["status"][]): Promise<RunRecord>;
  /** Waits for an event of this type, the `n`-th from 1. */
  event(id: string, type: string, n?: number): Promise<ReadEvent>;
  events(id: string): Promise<ReadEvent[]>;
  say(id: string, text: string, files?: readonly Part[]): Promise<void>;
  /** Starts again with the flow's next release: runs in progress go on as they do there. */
  upgrade(next: FlowDefinition): Promise<void>;
};

/** A request to a flow under test. */
export type FlowStart = {
  readonly text: string;
  readonly agents?: readonly string[];
  readonly options?: { readonly [name: string]: unknown };
  readonly files?: readonly Part[];
} & Partial<Omit<AgentInput, "message">>;

/** Starts a flow for a test. Each agent's model follows its script. */
export async function flowForTest(
  definition: FlowDefinition,
  spec: {
    readonly agents: Readonly<Record<string, ModelScript>>;
    readonly model?: ModelScript;
    readonly limits?: Partial<FlowLimits>;
    /** False for a model without a known price. */
    readonly price?: boolean;
    /** Fields of the agents' entries besides their names. */
    readonly entries?: Readonly<Record<string, Partial<AgentEntry>>>;
  },
): Promise<FlowForTest> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-flow-"));
  const servers = new Map<string, AgentServerForTest>();
  for (const [name, script] of Object.entries(spec.agents)) {
    const agent = { name, title: name };
    servers.set(
      name,
      await agentServerForTest({ script, tools: toolsForTest(), agent, maxRetries: 0, modelPauses: never }),
    );
  }
  const entries = [...servers].map(([name, { url }]) => ({ ...entryForTest(name, url), ...spec.entries?.[name] }));
  const model = await startScriptedModel(spec.model ?? []);
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const working = (release: FlowDefinition): Engine => {
    const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
    const peers = createPeers({ engine, artifacts, bounds: { patienceMs: 1_000 } });
    const deps = { peers, agents: fixedAgents(entries), model: modelForTest(model.url, spec.price) };
    engine.work([
      flowRun(release, { ...deps, readDocument: extractDocument, ...(spec.limits && { limits: spec.limits }) }),
      cancelChildrenRun(release.name, peers),
    ]);
    return engineCancellingChildren(engine, release.name);
  };
  let own = working(definition);
  return {
    ...runsForTest(definition, () => own),
    get engine() {
      return own;
    },
    async upgrade(next) {
      await own.close({ graceMs: 0 });
      own = working(next);
    },
    artifacts,
    model,
    agent(name) {
      const server = servers.get(name);
      if (server === undefined) throw new Error(`there is no agent ${name}`);
      return server;
    },
    async [Symbol.asyncDispose]() {
      await own.close({ graceMs: 0 });
      for (const server of servers.values()) await server[Symbol.asyncDispose]();
      await model.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Pauses that never wait for an unavailable model. */
const never = { firstMs: Number.POSITIVE_INFINITY, longestMs: Number.POSITIVE_INFINITY };

function toolsForTest() {
  return [createStrReplaceEditor(createKeyedQueue()), askHuman(), terminate];
}

/** A model at a scripted server. */
export function modelForTest(url: string, hasPrice = true) {
  return createModel(
    modelConfigSchema.parse({
      name: "scripted",
      baseUrl: url,
      ...(hasPrice && { price: { inputPerMillion: 1, outputPerMillion: 2 } }),
    }),
  );
}

/** A registry's entry for an agent. */
export function entryForTest(name: string, url: string): AgentEntry {
  const skills = [{ id: `${name}-work`, name: `Work of ${name}`, description: "", tags: [], examples: [] }];
  return { name, title: name, description: `Does what ${name} does.`, skills, url, kind: "agent" };
}

/** A registry with these entries. */
export function fixedAgents(entries: readonly AgentEntry[]): Agents {
  return { list: async () => entries, read: async (url) => entryForTest("stranger", url) };
}

/** Starts, follows and answers the runs of an engine. */
function runsForTest(definition: Pick<FlowDefinition, "name">, engine: () => Engine) {
  const events = async (id: string) => (await engine().events(id)).map(({ event }) => readEvent(event));
  const poll = async <Value>(what: string, look: () => Promise<Value | undefined>): Promise<Value> => {
    for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(5)) {
      const found = await look();
      if (found !== undefined) return found;
    }
    throw new Error(`waited in vain for ${what}`);
  };
  const until = (id: string, ...statuses: RunRecord["status"][]) =>
    poll(statuses.join(" or "), async () => {
      const record = await engine().get(id);
      return record !== undefined && statuses.includes(record.status) ? record : undefined;
    });
  const start = async (request: FlowStart) => {
    const input = inputForTest(request);
    const received = { type: "message-received", ...input.message };
    const request_ = { kind: definition.name, input, principal: "alice", contextId: "c1", events: [received] };
    return (await engine().start(request_)).run.id;
  };
  return {
    events,
    until,
    start,
    event: (id: string, type: ReadEvent["type"], n = 1) =>
      poll(
        type,
        async () =>
          (await events(id)).filter((event) => event.type === type || ("of" in event && event.of === type))[n - 1],
      ),
    async run(request: FlowStart) {
      const id = await start(request);
      const record = await until(id, "completed", "failed", "canceled", "paused");
      return { record, events: await events(id), answer: (record.output as AgentOutput | undefined)?.answer ?? "" };
    },
    async say(id: string, text: string, files: readonly Part[] = []) {
      const message = { messageId: crypto.randomUUID(), parts: [{ type: "text" as const, text }, ...files] };
      await engine().deliver(id, messageSignal, message, { id: message.messageId });
    },
  };
}

/** A request as the run's input. */
export function inputForTest({ text, files = [], agents, options, ...rest }: FlowStart): AgentInput {
  const flow = { ...(agents && { agents }), ...(options && { options }) } as FlowSettings;
  const parts: Part[] = [{ type: "text", text }, ...files];
  const message = { messageId: crypto.randomUUID(), parts, metadata: settingsMetadata(flow) };
  return { hops: 0, flow, ...rest, message };
}

/** The data of a flow's own events of this type, in order, each with its note. */
// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of the data.
export function flowEvents(events: readonly ReadEvent[], of: string): Record<string, any>[] {
  return events.flatMap((event) =>
    event.type === "flow-told" && event.of === of ? [{ ...event.data, note: event.note }] : [],
  );
}
