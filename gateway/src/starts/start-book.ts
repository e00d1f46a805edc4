import { damagedText, type KeptText } from "manyhands/internal/core/text/kept-text";
import * as z from "zod";

const budget = z.strictObject({
  steps: z.int().exactOptional(),
  tokens: z.int().exactOptional(),
  usd: z.number().exactOptional(),
});

const schedule = z.strictObject({
  name: z.string(),
  principal: z.string(),
  cron: z.string(),
  timeZone: z.string(),
  missed: z.enum(["once", "skip"]),
  overlap: z.enum(["skip", "allow"]),
  start: z.string(),
  task: z.string(),
  settings: z.strictObject({
    agents: z.array(z.string()).exactOptional(),
    options: z.record(z.string(), z.json()).exactOptional(),
  }),
  budget: budget.exactOptional(),
  notify: z.array(z.string()),
  createdAt: z.number(),
  /** Added with a token of the system: it starts nothing once its principal has none. */
  byToken: z.boolean().exactOptional(),
});

/**
 * What happened at one time of a schedule, or with one webhook. Times are milliseconds since 1970.
 */
const firing = z.strictObject({
  /** When it was due, or when the webhook came. */
  due: z.number(),
  at: z.number(),
  /** `started`, `made-up` late, `by-hand`; `missed`, `skipped` and `refused` started nothing. */
  outcome: z.enum(["started", "made-up", "by-hand", "missed", "skipped", "refused"]),
  /** How many earlier times were missed, 100 at most. */
  missed: z.int().exactOptional(),
  runId: z.string().exactOptional(),
  reason: z.string().exactOptional(),
  /** What the sender of a webhook calls its delivery, and the event. */
  delivery: z.string().exactOptional(),
  event: z.string().exactOptional(),
});

const state = z.strictObject({
  paused: z.boolean().exactOptional(),
  /** Everything up to here has been decided. */
  until: z.number().exactOptional(),
  /** The time whose run is being started: whether it was, the store knows under its messageId. */
  starting: z.strictObject({ due: z.number(), at: z.number(), kind: z.string() }).exactOptional(),
  firings: z.array(firing),
});

const kept = z.strictObject({ schedules: z.array(schedule), states: z.record(z.string(), state) });

/** A schedule that was added, not written in the settings. */
export type AddedSchedule = z.output<typeof schedule>;

/** What became of a time of a schedule, or of a webhook. */
export type Firing = z.output<typeof firing>;

/** Where a schedule or trigger stands. */
export type StartState = z.output<typeof state>;

/** What was added, and where each schedule and trigger stands. */
export type StartBook = z.output<typeof kept>;

/** Firings of each that are kept. */
const maxFirings = 20;

/** The book in a text that all gateways of a system share. */
export type BookStore = {
  read(): Promise<StartBook>;
  /** Changes it in one step; `next` may be called again with a newer book. */
  change(next: (book: StartBook) => StartBook): Promise<void>;
};

/** The book that a text holds, which is read anew for each call; an empty one without a text. */
export function openStartBook(text: KeptText): BookStore {
  return {
    read: async () => bookIn(await text.read()),
    change: (next) => text.change((now) => JSON.stringify(next(bookIn(now)))),
  };
}

/** Where it stands; at the beginning, if nothing is known of it. */
export function stateOf({ states }: StartBook, id: string): StartState {
  return Object.hasOwn(states, id) ? (states[id] ?? { firings: [] }) : { firings: [] };
}

/** The book with another state of one of them. */
export function withState(book: StartBook, id: string, next: (now: StartState) => StartState): StartBook {
  return { ...book, states: { ...book.states, [id]: next(stateOf(book, id)) } };
}

/**
 * With a firing, unless it is there. Where several say what became of a time, the one that started
 * a run counts.
 */
export function withFiring(state: StartState, firing: Firing): StartState {
  const isOfItsTime = (one: Firing) => one.due === firing.due && one.delivery === firing.delivery;
  if (state.firings.some((one) => (firing.runId === undefined ? isOfItsTime(one) : one.runId === firing.runId)))
    return state;
  const others = state.firings.filter((one) => one.runId !== undefined || !isOfItsTime(one));
  return { ...state, firings: [...others, firing].slice(-maxFirings) };
}

function bookIn(text: string | undefined): StartBook {
  if (text === undefined) return { schedules: [], states: {} };
  try {
    return kept.parse(JSON.parse(text));
  } catch (cause) {
    throw damagedText("schedules.json", "schedules that are not in the settings are gone then", cause);
  }
}
