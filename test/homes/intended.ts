import { isDeepStrictEqual } from "node:util";
import type { Wire } from "../a2a/rpc.ts";
import type { Views } from "./views.ts";

/** Facts about a home from its database alone. */
export type Facts = {
  /** The errors of its failed runs, by their ids. */
  readonly errors: Readonly<Record<string, { readonly code: string; readonly message: string }>>;
};

/** A view that changed on purpose: why, and what a recorded view looks like now. */
type Difference = {
  readonly why: string;
  now(view: Wire, key: string, recorded: Views, facts: Facts): Wire;
};

/**
 * Every difference between what a home of 2026-11 showed then and what it shows now. The recorded
 * views themselves never change.
 */
const ofFirstHome: readonly Difference[] = [
  {
    why: "What only a flow tells is {type, note, data}, with keys in its data that all flows share: docs/decisions/durability/one-table-of-events.md",
    now: (view) => everywhere(view, (one) => (isFlowEvent(one) ? flowEvent(one) : one)),
  },
  {
    why: "The code of a failure is data, and not the end of its sentence: docs/decisions/durability/one-table-of-events.md",
    now: (view, _, __, { errors }) =>
      everywhere(view, (one) => {
        const error = errors[one.id];
        if (error === undefined) return one;
        if (one.progress === sentence(error)) return { ...one, progress: error.message };
        return one.status?.message === undefined
          ? one
          : { ...one, status: { ...one.status, message: failure(one, error) } };
      }),
  },
  {
    why: "The command line reads every event of the table, also those that show nothing in the terminal, where it tells the time up to the last",
    now: (view, key, recorded) => {
      const [, id, json] = /^manyhands runs show (\S+)( --json)?$/.exec(key) ?? [];
      const events = recorded[`GET /runs/${id}/events`];
      if (events === undefined) return view;
      return json === undefined ? withTime(view, events) : withEvents(view, events);
    },
  },
  {
    why: "The terminal's messages are worded plainly",
    now: (view, key) => {
      if (!/^manyhands runs show \S+$/.test(key)) return view;
      return view.map((line: string) =>
        rewordings.reduce((text, [before, after]) => text.replace(before, after), line),
      );
    },
  },
];

/** What only the home of 2026-11b holds, and shows differently now. */
const ofSecondHome: readonly Difference[] = [
  {
    why: "The end of a run in the terminal says what its failure is called",
    now(view, key, _, { errors }) {
      const [, id = ""] = /^manyhands runs show (\S+)$/.exec(key) ?? [];
      const code = errors[id]?.code;
      if (code === undefined) return view;
      return view.map((line: string) => line.replace(/^✗ failed(?= {2})/, `✗ failed, ${code}`));
    },
  },
];

/** What homes show since a later release, whichever wrote them. */
const ofEveryHome: readonly Difference[] = [
  {
    why: "A status line has a call in words, and not its arguments as JSON",
    now: (view) => everywhere(view, callInWords),
  },
  {
    why: "A run says which agents it asked, so that a list of runs can show and filter them",
    now(view, key, recorded) {
      const isRun = /^(?:\w+: )?GET \/runs\/[^/?]+$/.test(key) && view.id !== undefined;
      return isRun ? { ...view, agents: askedBy(recorded[`${key}/events`]) } : view;
    },
  },
  {
    why: "A run that waits says which event asks, so that an answer can name its question",
    now(view, key, recorded) {
      const isWaiting = /^(?:\w+: )?GET \/runs\/[^/?]+$/.test(key) && view.question !== undefined;
      return isWaiting ? { ...view, questionEvent: asking(recorded[`${key}/events`]) } : view;
    },
  },
  {
    why: "A list of runs names a status as `--status` does",
    now(view, key) {
      if (!/^(?:\w+: )?manyhands runs list\b(?!.*--json)/.test(key)) return view;
      return view.map((line: string) =>
        line.replace(/ (?:submitted|working) {2}/, (word) => statusWords[word] ?? word),
      );
    },
  },
  {
    why: "A run that waits is shown with the command that answers it, not with the name of its state",
    now(view, key) {
      const [, id] = /^(?:\w+: )?manyhands runs show (\S+)$/.exec(key) ?? [];
      if (id === undefined || !view.includes("? input-required")) return view;
      const lines = view.filter((line: string) => line !== "? input-required");
      return [...lines.slice(0, -1), `Answer it with: bun manyhands runs answer ${id} "…"`, ...lines.slice(-1)];
    },
  },
];

const statusWords: Readonly<Record<string, string>> = { " submitted  ": " queued     ", " working  ": " running  " };

/** A call in words, where its name was followed by JSON; those of these homes have no arguments. */
function callInWords(one: Wire): Wire {
  if (one.role !== "ROLE_AGENT") return one;
  const inWords = (part: Wire) => ({ ...part, text: part.text.replace(/^(\w+) \{\}$/, "$1") });
  return { ...one, parts: one.parts.map((part: Wire) => (typeof part.text === "string" ? inWords(part) : part)) };
}

/** The number of the last event that asked a person something. */
function asking(events: readonly Wire[] = []): number {
  return events.findLast(({ event }) => event.type === "question-asked")?.seq;
}

/** The agents that a run asked, each once. */
function askedBy(events: readonly Wire[] = []): string[] {
  return [...new Set(events.flatMap(({ event }) => (event.type === "agent-asked" ? [event.agent] : [])))];
}

const differences: Readonly<Record<string, readonly Difference[]>> = {
  "2026-11": [...ofFirstHome, ...ofEveryHome],
  "2026-11b": [...ofSecondHome, ...ofEveryHome],
};

/**
 * What the recorded views look like now. Fails for a difference without effect, which must be
 * removed.
 */
export function viewsNow(home: string, recorded: Views, facts: Facts): Views {
  let views = recorded;
  for (const { why, now } of differences[home] ?? []) {
    const next = Object.entries(views).map(([key, view]) => [key, now(view, key, recorded, facts)] as const);
    if (isDeepStrictEqual(Object.fromEntries(next), views)) throw new Error(`Nothing differs for this reason: ${why}`);
    views = Object.fromEntries(next);
  }
  return views;
}

/** A copy in which `change` has been applied to every object. */
function everywhere(value: Wire, change: (one: Wire) => Wire): Wire {
  if (Array.isArray(value)) return value.map((one) => everywhere(one, change));
  if (typeof value !== "object" || value === null) return value;
  return change(Object.fromEntries(Object.entries(value).map(([key, one]) => [key, everywhere(one, change)])));
}

function isFlowEvent({ type, note, data }: Wire): boolean {
  return typeof type === "string" && typeof note === "string" && data === undefined;
}

const began = ["step-assigned", "branch-begun", "iteration-begun"];

function flowEvent({ type, note, ...fields }: Wire): Wire {
  const { met } = fields;
  const shared = {
    ...(began.includes(type) && { begun: true }),
    ...(type === "policy-settled" && { outcome: met ? "completed" : "failed" }),
    ...(type === "argument-made" && { outcome: "completed" }),
  };
  return { type, note, data: { ...fields, ...shared } };
}

type Failure = Facts["errors"][string];

function sentence({ code, message }: Failure): string {
  const end = ` (${code})`;
  return message.endsWith(end) ? message : message + end;
}

function failure({ status }: Wire, error: Failure): Wire {
  const { message } = status;
  const parts = message.parts.map((part: Wire) =>
    part.text === sentence(error) ? { ...part, text: error.message } : part,
  );
  return { ...message, parts, metadata: { ...message.metadata, "manyhands/error": error } };
}

const rewordings = [
  [/^● Step (?=\d+ of at most)/, "● Turn "],
  ["… still at work ", "… still running "],
  ["… still waiting to start ", "… waiting to start "],
  ["? waits for an answer ", "? waiting for an answer "],
  ["When the cause is removed, resume", "Once the cause is fixed, resume"],
] as const;

/** The seconds from the first event to the last, of a run that has not ended. */
function withTime(lines: readonly string[], events: readonly Wire[]): string[] {
  const [first, last] = [events.at(0)?.at, events.at(-1)?.at].map((at) => Date.parse(at));
  const seconds = (((last ?? 0) - (first ?? 0)) / 1000).toFixed(1);
  return lines.map((line) => line.replace(/^(… still at work {2})[\d.]+ s/, `$1${seconds} s`));
}

function withEvents(items: readonly Wire[], events: readonly Wire[]): Wire[] {
  const told = events.map(({ seq, at, event }) => ({ kind: "event", seq, at: Date.parse(at), event }));
  const left = told.filter(({ seq }) => items.every((item) => item.seq !== seq));
  const shown = items.filter(({ kind }) => kind === "event");
  return [...[...shown, ...left].toSorted((one, other) => one.seq - other.seq), ...items.slice(shown.length)];
}
