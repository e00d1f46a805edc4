import type { ModelSettings } from "../../models/config.ts";

/** What a model answers, in no provider's words. */
export type WireAnswer = {
  readonly text?: string;
  /** Thinking with the signature that its provider wants back. */
  readonly thinking?: { readonly text: string; readonly signature: string };
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly json: string }[];
  readonly tokens?: {
    readonly fresh: number;
    readonly cached: number;
    readonly written: number;
    readonly output: number;
  };
  readonly isCut?: boolean;
  /** What the model says in place of an answer that it refuses. */
  readonly refusal?: string;
};

/** A provider's protocol, as its servers speak it. */
export type ProviderWire = {
  readonly settings: Pick<ModelSettings, "apiType" | "name" | "region">;
  /** What is appended to the server's address for a client. */
  readonly base: string;
  /** Where requests arrive. */
  readonly path: RegExp;
  readonly contentType: string;
  /** The frames of a streamed answer; the last ones say why it ended. */
  frames(answer: WireAnswer): readonly Uint8Array[];
  /** The body of an error. */
  error(status: number, message: string): object;
  /** How it says that a prompt is too long. */
  readonly overflow: { readonly status: number; readonly message: string };
};

const encoder = new TextEncoder();
const json = (value: unknown) => JSON.stringify(value);
/** A server-sent event under its type. */
export const event = (data: { readonly type: string }) =>
  encoder.encode(`event: ${data.type}\ndata: ${json(data)}\n\n`);
/** A server-sent event without a name. */
export const data = (value: object | string) =>
  encoder.encode(`data: ${typeof value === "string" ? value : json(value)}\n\n`);
/** A text in the pieces in which models write it. */
export const words = (text: string) => text.match(/\s*\S+|\s+/g) ?? [];
/** The tokens of an answer that says nothing of them. */
export const usual = { fresh: 10, cached: 0, written: 0, output: 5 };
