import type { Part, StoredFile } from "manyhands";
import type { AskMessage, AskOptions, AskOutcome, Decision, Flow, Writing } from "manyhands/flows";
import type * as z from "zod";
import type { TaskStep } from "../planning/task-plan.ts";

/** What a flow's own model or an agent was shown. */
type Shown = {
  readonly decisions: Decision<z.ZodObject>[];
  readonly writings: Writing[];
  /** What it could have decided instead of a writing. */
  readonly ends: Decision<z.ZodObject>[];
  readonly asks: (AskMessage & { readonly agent: string; readonly options: AskOptions })[];
  readonly told: Parameters<Flow["tell"]>[0][];
};

/** A stored file of this content, as far as texts show it. */
export const paperFile = (name: string, text = name): StoredFile => ({
  name,
  mediaType: "text/plain",
  size: text.length,
  sha256: text,
});

/** The completed answer of an agent that remembers its conversations. */
export const paperAnswer = (answer: string, changes: Partial<AskOutcome> = {}): AskOutcome => ({
  agent: "one",
  taskId: "t",
  contextId: "c",
  remembers: true,
  state: "completed",
  answer,
  files: [],
  ...changes,
});

/** A run whose steps are made at once, and recorded nowhere. */
const paperRun = {
  id: "run-1",
  abortSignal: new AbortController().signal,
  step: async (_: string, work: (step: object) => unknown) => work({}),
  race: (bodies: readonly ((run: unknown) => Promise<unknown>)[]) => Promise.race(bodies.map((body) => body(paperRun))),
};

/**
 * A flow without engine, model and agents, for tests of the texts that a body makes: it records
 * what they would have been shown, and answers as given. A file's excerpt is its hash.
 */
export function paperFlow(
  changes: Partial<Flow> & { readonly files?: readonly Part[] } = {},
  answers: {
    readonly decided?: readonly unknown[];
    readonly written?: readonly string[];
    readonly asked?: readonly AskOutcome[];
  } = {},
): { readonly flow: Flow; readonly shown: Shown } {
  const shown: Shown = { decisions: [], writings: [], ends: [], asks: [], told: [] };
  const flow: object = {
    run: paperRun,
    over: () => flow,
    all: (works: readonly ((each: unknown) => Promise<unknown>)[]) => Promise.all(works.map((work) => work(flow))),
    cancelOpen: async () => undefined,
    goal: "The goal",
    files: [],
    earlier: "",
    agents: [],
    isChosen: false,
    expect: () => undefined,
    check: () => undefined,
    artifact: () => undefined,
    handOn: () => undefined,
    reached: () => undefined,
    receiveMessages: async () => [],
    tell: (event: Shown["told"][number]) => void shown.told.push(event),
    excerpts: async (files: readonly StoredFile[]) =>
      files.map(({ name, size, sha256 }) => ({ name, size, text: sha256 })),
    decide: async (decision: Decision<z.ZodObject>) => answers.decided?.[shown.decisions.push(decision) - 1],
    write: async (writing: Writing) => answers.written?.[shown.writings.push(writing) - 1] ?? "",
    writeOrDecide: async (writing: Writing, decision: Decision<z.ZodObject>) => {
      shown.ends.push(decision);
      return { text: answers.written?.[shown.writings.push(writing) - 1] ?? "" };
    },
    ask: async (agent: string, message: AskMessage, options: AskOptions = {}) =>
      answers.asked?.[shown.asks.push({ agent, ...message, options }) - 1] ?? paperAnswer(""),
    ...changes,
  };
  return { flow: flow as unknown as Flow, shown };
}

/** A step of a plan that expects and delivers nothing, for the agent "one". */
export function paperStep(id: string, changes: Partial<TaskStep> = {}): TaskStep {
  return { id, text: `do ${id}`, agent: "one", dependsOn: [], expected: "", delivers: [], ...changes };
}
