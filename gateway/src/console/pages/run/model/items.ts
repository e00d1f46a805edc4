import { isEvent } from "../../../api/events.ts";
import type { TreeEvent } from "../../../api/tree-events.ts";

/** What a run has used, of its own model calls. */
export type Used = {
  readonly tokens: number;
  readonly input: number;
  readonly cached: number;
  readonly usd: number;
  readonly unpriced: boolean;
};

/** The used of nothing. */
export const noneUsed: Used = { tokens: 0, input: 0, cached: 0, usd: 0, unpriced: false };

/** A tool call. `reply` is the model's reply that asked for it. */
export type CallItem = {
  readonly kind: "call";
  readonly key: string;
  readonly runId: string;
  readonly callId: string;
  readonly name: string;
  readonly started: TreeEvent;
  readonly reply: TreeEvent | undefined;
  ended: TreeEvent | undefined;
  readonly waits: PersonWait[];
};

/** A wait for the person: open until it was answered. */
export type PersonWait = { readonly from: number; to: number | undefined };

/** A run of a flow or an agent. `askId` is the ask it came from. */
export type RunItem = {
  readonly kind: "run";
  readonly key: string;
  readonly runId: string;
  name: string;
  readonly elsewhere: boolean;
  title: string;
  /** Everything that happened in it, in order. */
  readonly events: TreeEvent[];
  readonly children: TreeItem[];
  readonly replies: TreeEvent[];
  readonly waits: PersonWait[];
  started: number | undefined;
  ended: TreeEvent | undefined;
  /** How the one that asked was told it ended. */
  outcome: { readonly state: string; readonly error?: string } | undefined;
  used: Used;
};

/** A row of the tree. */
export type TreeItem = RunItem | CallItem;

/** Where the item begins. */
export function startOf(item: TreeItem): number {
  return item.kind === "call" ? Date.parse(item.started.at) : (item.started ?? 0);
}

/** Where the item ended; undefined while it goes on. */
export function endOf(item: TreeItem): number | undefined {
  return item.ended === undefined ? undefined : Date.parse(item.ended.at);
}

/** Whether an item ended without an outcome: a call with its run, or a run that was canceled. */
export function isStopped(item: TreeItem): boolean {
  const event = item.ended?.event;
  if (item.kind === "call") return event?.type === "run-ended";
  const status = event?.type === "run-ended" && "status" in event ? event.status : item.outcome?.state;
  return status === "canceled";
}

/** Whether the item goes on only once a person has answered it, or something below it. */
export function waitsForPerson(item: TreeItem): boolean {
  if (item.ended !== undefined) return false;
  const wait = item.waits.at(-1);
  if (wait !== undefined && wait.to === undefined) return true;
  return item.kind === "run" && item.children.some(waitsForPerson);
}

/** What a run that goes on has last said it waits for, such as a model that cannot answer now. */
export function waitingFor(item: TreeItem): string | undefined {
  if (item.ended !== undefined || item.kind === "call") return undefined;
  const event = item.events.at(-1)?.event;
  if (event === undefined) return undefined;
  const isNotice = isEvent(event, "notice-given") && event.kind === "waiting";
  const isTold = isEvent(event, "agent-progressed") && event.notice === "waiting";
  return isNotice || isTold ? event.text : undefined;
}

/** Whether a run has asked others. */
export const asksOthers = (item: RunItem): boolean => item.children.some(({ kind }) => kind === "run");

/** Why an item failed, in a line; undefined if it did not. */
export function failureOf(item: TreeItem): string | undefined {
  if (item.kind === "call") {
    const event = item.ended?.event;
    return event?.type === "tool-ended" && "isError" in event && event.isError ? event.text : undefined;
  }
  const event = item.ended?.event;
  if (event?.type === "run-ended" && "status" in event && event.status === "failed")
    return event.error?.message ?? item.outcome?.error ?? "";
  return item.outcome?.state === "failed" || item.outcome?.state === "timed-out"
    ? (item.outcome.error ?? "")
    : undefined;
}
