import type { EventOf, JournalEvent } from "manyhands/internal/core/events/events";
import { textOf } from "manyhands/internal/core/message";
import { type FlowSent, isFlowEvent } from "../../../api/events.ts";
import type { Asked, TreeEvent } from "../../../api/tree-events.ts";
import { type CallItem, noneUsed, type RunItem, type TreeItem, type Used } from "./items.ts";
import { type PlanItem, planOf } from "./plan.ts";

type TreeReader<Type extends JournalEvent["type"]> = (
  tree: RunTree,
  run: RunItem,
  event: EventOf<Type>,
  item: TreeEvent,
) => void;

/** The tree of a run, built from its events as they come. */
export class RunTree {
  /** How each type of event changes the tree and the run it belongs to. */
  static readonly readers: { readonly [Type in JournalEvent["type"]]: TreeReader<Type> } = {
    "message-received": (_, run, { parts }, { at }) => {
      if (run.title === "") run.title = textOf(parts);
      closeWaits(run, Date.parse(at));
    },
    "message-heard": nothing,
    "step-started": nothing,
    "model-replied": (_, run, { usage, discarded }, item) => {
      run.replies.push(item);
      run.used = withUse(run.used, usage, discarded);
    },
    "model-asked": addUse,
    "tool-started": (tree, run, event, item) => tree.#start(run, item, event),
    "tool-ended": (tree, run, { callId }, item) => {
      const call = tree.#calls.get(`${run.runId}/${callId}`);
      if (call !== undefined) call.ended = item;
    },
    "context-compacted": addUse,
    "memory-recalled": addUse,
    "agent-asked": (tree, run, { askId, agent, text }) => {
      tree.#asks.set(askId, { title: tree.#assigned.get(agent) ?? text, agent, parent: run });
    },
    "agent-accepted": nothing,
    "agent-progressed": nothing,
    "agent-used": nothing,
    "agent-answered": (tree, run, { askId, state, error }, item) => {
      const asked = tree.#runOfAsk.get(askId) ?? tree.#unseen(askId, item);
      asked.outcome = { state, ...(error && { error: error.message }) };
      if (asked.elsewhere || asked.events.length === 0) asked.ended ??= item;
      closeWaits(run, Date.parse(item.at));
    },
    // A question that another agent put is shown where it was asked.
    "question-asked": (tree, run, { askId, approval }, { at }) => {
      if (askId === undefined) tree.#wait(run, Date.parse(at), approval?.callId);
    },
    "notice-given": nothing,
    "artifact-added": nothing,
    "run-paused": nothing,
    "run-resumed": nothing,
    "run-ended": (_, run, __, item) => {
      run.ended = item;
      closeWaits(run, Date.parse(item.at));
      for (const child of run.children) if (child.kind === "call") child.ended ??= item;
    },
  };

  readonly root: RunItem;
  readonly runs = new Map<string, RunItem>();
  /** The newest plan of a flow. */
  plan: readonly PlanItem[] = [];
  /** All events, in the order in which they came. */
  readonly events: TreeEvent[] = [];
  readonly #runOfAsk = new Map<string, RunItem>();
  readonly #assigned = new Map<string, string>();
  readonly #calls = new Map<string, CallItem>();
  readonly #asks = new Map<string, { readonly title: string; readonly agent: string; readonly parent: RunItem }>();

  constructor(id: string, name: string) {
    this.root = this.#newRun(id, name, false);
  }

  /** The call with this id in a run. */
  call(runId: string, callId: string): CallItem | undefined {
    return this.#calls.get(`${runId}/${callId}`);
  }

  asked({ runId, askId, id, name, place }: Asked): void {
    if (this.runs.has(id)) return;
    const run = this.#newRun(id, name, place === "elsewhere");
    const parent = this.runs.get(runId) ?? this.root;
    run.title = this.#asks.get(askId)?.title ?? "";
    this.#asks.set(askId, { title: run.title, agent: name, parent });
    this.#runOfAsk.set(askId, run);
    const newest = parent.events.at(-1);
    if (newest !== undefined) run.started = Date.parse(newest.at);
    parent.children.push(run);
  }

  add(item: TreeEvent): void {
    const run = this.runs.get(item.runId);
    if (run === undefined) return;
    run.events.push(item);
    this.events.push(item);
    run.started ??= Date.parse(item.at);
    this.#apply(run, item);
  }

  #apply(run: RunItem, item: TreeEvent): void {
    const { event } = item;
    if (isFlowEvent(event)) this.#flow(event);
    else if (Object.hasOwn(RunTree.readers, event.type))
      (RunTree.readers[event.type] as TreeReader<typeof event.type>)(this, run, event as never, item);
  }

  /** The plan item that an agent is given next says what its run is about. */
  #flow(event: FlowSent): void {
    this.plan = planOf(event) ?? this.plan;
    const { step, agent } = event.data ?? {};
    const item = this.plan.find(({ id }) => id === String(step));
    if (event.type === "step-assigned" && item !== undefined && typeof agent === "string")
      this.#assigned.set(agent, item.text);
  }

  #start(run: RunItem, item: TreeEvent, event: { readonly callId: string; readonly name: string }): void {
    const key = `${run.runId}/${event.callId}`;
    // A call that was interrupted by a crash begins again: the row stays.
    if (this.#calls.has(key)) return;
    const call: CallItem = {
      ...{ kind: "call", key, runId: run.runId, callId: event.callId, name: event.name },
      ...{ started: item, ended: undefined, reply: run.replies.at(-1), waits: [] },
    };
    this.#calls.set(key, call);
    run.children.push(call);
  }

  #wait(run: RunItem, from: number, callId: string | undefined): void {
    const open = run.children.filter((child): child is CallItem => child.kind === "call" && child.ended === undefined);
    const call = callId === undefined ? undefined : this.#calls.get(`${run.runId}/${callId}`);
    (call ?? open.at(-1) ?? run).waits.push({ from, to: undefined });
  }

  /** An agent that answered without any run of it in sight. */
  #unseen(askId: string, item: TreeEvent): RunItem {
    const ask = this.#asks.get(askId);
    const run = this.#newRun(`${item.runId}/${askId}`, ask?.agent ?? "", true);
    run.title = ask?.title ?? "";
    run.started = Date.parse(item.at);
    (ask?.parent ?? this.root).children.push(run);
    this.#runOfAsk.set(askId, run);
    return run;
  }

  #newRun(id: string, name: string, elsewhere: boolean): RunItem {
    const run: RunItem = {
      ...{ kind: "run", key: id, runId: id, name, elsewhere, title: "" },
      ...{ events: [], children: [], replies: [], waits: [] },
      ...{ started: undefined, ended: undefined, outcome: undefined, used: noneUsed },
    };
    this.runs.set(id, run);
    return run;
  }
}

function nothing(): void {}

function addUse(
  _: RunTree,
  run: RunItem,
  { usage, discarded }: { readonly usage?: Usage; readonly discarded?: Usage },
): void {
  run.used = withUse(run.used, usage, discarded);
}

function closeWaits(run: RunItem, at: number): void {
  const places: readonly TreeItem[] = [run, ...run.children.filter(({ kind }) => kind === "call")];
  for (const { waits } of places) {
    const open = waits.at(-1);
    if (open !== undefined && open.to === undefined) open.to = at;
  }
}

type Usage = {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
};

function withUse(used: Used, ...usages: readonly (Usage | undefined)[]): Used {
  return usages.reduce<Used>((sum, usage) => {
    if (usage === undefined) return sum;
    return {
      tokens: sum.tokens + usage.inputTokens + usage.outputTokens,
      input: sum.input + usage.inputTokens,
      cached: sum.cached + usage.cachedInputTokens,
      usd: sum.usd + (usage.costUsd ?? 0),
      unpriced: sum.unpriced || usage.costUsd === null,
    };
  }, used);
}
