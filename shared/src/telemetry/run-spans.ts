import type { EventOf, ReadEvent } from "../core/events/events.ts";
import { readEvent } from "../core/events/read-event.ts";
import type { Usage } from "../core/model.ts";
import type { RunRecord, StoredEvent } from "../core/runs/engine.ts";
import { callerTrace, ownTrace, readTrace, spanId } from "../core/trace.ts";

type Attributes = { readonly [name: string]: string | number | boolean };

/** One finished piece of a run's work, as OpenTelemetry reports it. Times as in `RunRecord`. */
export type Span = {
  readonly name: string;
  readonly kind: "server" | "client" | "internal";
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId?: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  /** The code of its failure; left out if it did not fail. Sentences may quote what was said. */
  readonly error?: string;
  readonly moments?: readonly Moment[];
};

/** Something that happened at one time within a span. */
type Moment = { readonly name: string; readonly at: number; readonly attributes: Attributes };

/** Whether runs are those of an agent or of a flow, in the words of the GenAI conventions. */
export type Operation = "invoke_agent" | "invoke_workflow";

/** The spans of one run: a view of its journal, taken event by event, in order. */
export type RunSpans = {
  /** The spans that end with this event. */
  take(stored: StoredEvent): readonly Span[];
};

/** A piece of work whose end has not been read yet. */
type Begun = Pick<Span, "name" | "kind" | "spanId" | "startedAt" | "attributes">;

/** What is known of a run so far. */
type Tracing = {
  readonly run: RunRecord;
  readonly operation: Operation;
  readonly traceId: string;
  readonly callerId: string | undefined;
  /** Tool calls and asks that have begun, by their ids; asks have the messageId. */
  readonly open: Map<string, Begun>;
  question: Begun | undefined;
  readonly moments: Moment[];
  readonly used: { input: number; cached: number; output: number; usd: number };
};

/** The most moments of a run that are told; OpenTelemetry's own default. */
const maxMoments = 128;

/**
 * The spans of a run, by OpenTelemetry's semantic conventions for generative AI. What was said,
 * asked and answered is not in them: only names, times, counts and codes of errors. Undefined for a
 * run that is not sampled; `share` of those without a caller's trace is. The same journal always
 * gives the same spans with the same ids, so a span that is reported twice is the same one.
 */
export function runSpans(run: RunRecord, operation: Operation, share: number): RunSpans | undefined {
  const caller = callerTrace(run.input);
  const { traceId, parentId, isSampled } = readTrace(caller ?? ownTrace(run.id, share));
  if (!isSampled) return undefined;
  const tracing: Tracing = {
    ...{ run, operation, traceId, callerId: caller && parentId, open: new Map(), question: undefined, moments: [] },
    used: { input: 0, cached: 0, output: 0, usd: 0 },
  };
  return {
    take(stored) {
      const event = readEvent(stored.event);
      const view = views[event.type] as View<ReadEvent["type"]>;
      return view(tracing, stored, event);
    },
  };
}

type View<Type> = (
  tracing: Tracing,
  stored: StoredEvent,
  event: Extract<ReadEvent, { readonly type: Type }>,
) => readonly Span[];

const none = () => [];
const views: { readonly [Type in ReadEvent["type"]]: View<Type> } = {
  "message-received"(tracing, { at }) {
    const { question } = tracing;
    tracing.question = undefined;
    return question === undefined ? [] : [span(tracing, question, at)];
  },
  "message-heard": none,
  "step-started": none,
  "model-replied": (tracing, stored, event) => [modelCall(tracing, stored, event)],
  "model-asked": (tracing, stored, event) => [
    { ...modelCall(tracing, stored, event), parentId: spanId(tracing.run.id, event.callId) },
  ],
  "tool-started"(tracing, { at }, { callId, name }) {
    tracing.open.set(callId, toolCall(tracing, callId, name, at));
    return [];
  },
  "tool-ended"(tracing, { at }, { callId, name, isError, milliseconds }) {
    const startedAt = milliseconds > 0 ? at - milliseconds : (tracing.open.get(callId)?.startedAt ?? at);
    tracing.open.delete(callId);
    return [span(tracing, toolCall(tracing, callId, name, startedAt), at, isError ? "tool_error" : undefined)];
  },
  "context-compacted"(tracing, { at }, { type, usage, discarded }) {
    count(tracing, usage, discarded);
    return noted(tracing, type, at);
  },
  "memory-recalled"(tracing, { at }, { type, entries, usage }) {
    count(tracing, usage);
    return noted(tracing, type, at, { entries: entries.length });
  },
  "agent-asked"({ open }, { at }, { askId, agent, url }) {
    const ask = askOf(askId, agent, at);
    open.set(askId, { ...ask, attributes: { ...ask.attributes, "server.address": url } });
    return [];
  },
  "agent-accepted"({ open }, _, { askId, taskId }) {
    const ask = open.get(askId);
    if (ask !== undefined) open.set(askId, { ...ask, attributes: { ...ask.attributes, "manyhands.task.id": taskId } });
    return [];
  },
  "agent-progressed": none,
  "agent-used": none,
  "agent-answered"(tracing, { at }, { askId, agent, state, error }) {
    const ask = tracing.open.get(askId) ?? askOf(askId, agent, at);
    tracing.open.delete(askId);
    const answered = { ...ask, attributes: { ...ask.attributes, "manyhands.task.state": state } };
    return [span(tracing, answered, at, error?.code)];
  },
  "question-asked"(tracing, { seq, at }, { kind }) {
    tracing.question = {
      ...{ name: "wait for a person", kind: "internal", spanId: spanId(tracing.run.id, String(seq)), startedAt: at },
      attributes: { "manyhands.question.kind": kind },
    };
    return [];
  },
  "notice-given": (tracing, { at }, { type, kind }) => noted(tracing, type, at, { kind }),
  "artifact-added": none,
  "run-paused": (tracing, { at }, { type }) => noted(tracing, type, at),
  "run-resumed": (tracing, { at }, { type }) => noted(tracing, type, at),
  "flow-told"(tracing, { at }, { of, data: { outcome, agent } }) {
    const said = { ...(typeof outcome === "string" && { outcome }), ...(typeof agent === "string" && { agent }) };
    return noted(tracing, of, at, said);
  },
  "run-ended"(tracing, { at }, { status, error }) {
    const { run, operation, callerId, moments, used, open, question } = tracing;
    // Those of a run that is canceled, or of a branch that it left.
    const unended = [...open.values(), ...(question === undefined ? [] : [question])];
    const whole: Begun = {
      ...{ name: `${operation} ${run.kind}`, kind: "server", spanId: spanId(run.id), startedAt: run.createdAt },
      attributes: {
        "gen_ai.operation.name": operation,
        [operation === "invoke_agent" ? "gen_ai.agent.name" : "gen_ai.workflow.name"]: run.kind,
        "gen_ai.conversation.id": run.contextId,
        "manyhands.run.id": run.id,
        "manyhands.run.status": status,
        ...tokensOf(used.input, used.cached, used.output),
        "manyhands.cost.usd": used.usd,
      },
    };
    const { parentId: _, ...root } = span(tracing, whole, Math.max(run.createdAt, at), error?.code);
    return [
      ...unended.map((begun) => span(tracing, begun, at)),
      { ...root, moments, ...(callerId !== undefined && { parentId: callerId }) },
    ];
  },
  unknown: none,
};

/** A span of the run's work, which ends now; `error` is the code of its failure. */
function span({ run, traceId }: Tracing, begun: Begun, endedAt: number, error?: string): Span {
  const { startedAt, attributes } = begun;
  return {
    ...begun,
    ...{ traceId, parentId: spanId(run.id), startedAt: Math.min(startedAt, endedAt), endedAt },
    ...(error !== undefined && { error, attributes: { ...attributes, "error.type": error } }),
  };
}

function toolCall({ run }: Tracing, callId: string, name: string, startedAt: number): Begun {
  return {
    ...{ name: `execute_tool ${name}`, kind: "internal", spanId: spanId(run.id, callId), startedAt },
    attributes: {
      ...{ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.id": callId },
    },
  };
}

/** An ask is known to both sides by its id, which is its message's. */
function askOf(askId: string, agent: string, startedAt: number): Begun {
  return {
    ...{ name: `invoke_agent ${agent}`, kind: "client", spanId: spanId(askId), startedAt },
    attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent },
  };
}

function modelCall(tracing: Tracing, { seq, at }: StoredEvent, event: EventOf<"model-replied" | "model-asked">): Span {
  count(tracing, event.usage, event.discarded);
  const begun: Begun = {
    ...{ name: `chat ${event.model}`, kind: "client", spanId: spanId(tracing.run.id, String(seq)) },
    ...{ startedAt: at - event.milliseconds, attributes: chatOf(event) },
  };
  return span(tracing, begun, at);
}

function count({ used }: Tracing, ...usages: readonly (Usage | undefined)[]): void {
  for (const usage of usages) {
    if (usage === undefined) continue;
    used.input += usage.inputTokens;
    used.cached += usage.cachedInputTokens;
    used.output += usage.outputTokens;
    used.usd += usage.costUsd ?? 0;
  }
}

function noted({ moments }: Tracing, name: string, at: number, attributes: Attributes = {}): [] {
  if (moments.length < maxMoments) moments.push({ name, at, attributes });
  return [];
}

function chatOf({ model, usage }: EventOf<"model-replied" | "model-asked">): Attributes {
  const { inputTokens, cachedInputTokens, cacheWriteTokens: written, outputTokens, costUsd } = usage;
  return {
    ...{ "gen_ai.operation.name": "chat", "gen_ai.request.model": model, "gen_ai.response.model": model },
    ...tokensOf(inputTokens, cachedInputTokens, outputTokens),
    ...(written !== undefined && { "gen_ai.usage.cache_creation.input_tokens": written }),
    ...(costUsd !== null && { "manyhands.cost.usd": costUsd }),
  };
}

function tokensOf(input: number, cached: number, output: number): Attributes {
  return {
    "gen_ai.usage.input_tokens": input,
    "gen_ai.usage.cache_read.input_tokens": cached,
    "gen_ai.usage.output_tokens": output,
  };
}
