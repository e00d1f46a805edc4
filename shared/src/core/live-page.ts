import * as z from "zod";
import type { Workspace } from "./workspace.ts";

const at = { x: z.number().min(0).max(10_000), y: z.number().min(0).max(10_000) };
const keyName =
  /^(?:(?:Control|Shift|Alt|Meta)\+){0,3}(?:[A-Za-z0-9]|Enter|Tab|Backspace|Delete|Escape|Arrow(?:Up|Down|Left|Right)|Home|End|PageUp|PageDown|Space)$/;

/** What a person does to a page. Places are in pixels of the page's window. */
export const personInput = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("pointer"),
    act: z.enum(["move", "down", "up"]),
    ...at,
    button: z.enum(["left", "right"]).default("left"),
    clicks: z.int().min(1).max(3).default(1),
  }),
  z.strictObject({
    type: z.literal("wheel"),
    ...at,
    dx: z.number().min(-5_000).max(5_000),
    dy: z.number().min(-5_000).max(5_000),
  }),
  z.strictObject({ type: z.literal("text"), text: z.string().min(1).max(5_000) }),
  z.strictObject({ type: z.literal("key"), key: z.string().regex(keyName, "It must be the name of a key.") }),
  z.strictObject({ type: z.literal("back") }),
  z.strictObject({ type: z.literal("dialog"), accept: z.boolean(), text: z.string().max(5_000).exactOptional() }),
]);

/** One input of a person. */
export type PersonInput = z.output<typeof personInput>;

/** Which of the requests that a person sends without waiting for the one before this is. */
export const inputBurst = z.strictObject({ id: z.string().min(1).max(64), number: z.int().min(0).max(100_000) });

/** The place of a request in its burst, from 0. */
export type InputBurst = z.output<typeof inputBurst>;

/** What a person asks of a live page: to take it, to use it, to hand it back. */
export const liveOrder = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("take") }),
  z.strictObject({ do: z.literal("hand-back") }),
  z.strictObject({
    do: z.literal("input"),
    inputs: z.array(personInput).min(1).max(50),
    burst: inputBurst.exactOptional().describe("Requests of one burst are carried out in order, however they arrive."),
  }),
]);

/** An order as parsed. */
export type LiveOrder = z.output<typeof liveOrder>;

/** The state of a live page: its address, whether a person holds it, the dialog that blocks it. */
export type LiveState = {
  readonly page: "none" | "open";
  readonly url?: string;
  readonly held: boolean;
  readonly dialog?: { readonly kind: string; readonly message: string };
};

/** A picture of the page: a JPEG in base64, and the size of the page's window in its own pixels. */
export type LiveFrame = { readonly frame: string; readonly width: number; readonly height: number };

/** The open page of a conversation, for the person it belongs to. */
export interface LivePage {
  /**
   * States and pictures as they change, always the newest. Costs nothing while nobody watches.
   * Rejects with `rate_limited` when too many do.
   */
  watch(signal: AbortSignal): AsyncGenerator<LiveState | LiveFrame, void, undefined>;
  /**
   * Carries out an order. While a person holds the page, the agent's calls to it wait. Rejects with
   * `conflict` for a page that is not open, not held, or busy.
   */
  order(order: LiveOrder): Promise<void>;
}

/** What of a conversation a person can watch and use: its browser's page, or its desktop. */
export const liveScreens = ["browser", "desktop"] as const;

/** One of them. */
export type LiveScreen = (typeof liveScreens)[number];

/** The live pages of one server. */
export type LivePages = (workspace: Workspace) => LivePage;
