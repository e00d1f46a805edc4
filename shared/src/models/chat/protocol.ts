import type { Carried, ModelEvent, ModelReply, ModelRequest, ToolCall } from "../../core/model.ts";
import type { Traits } from "../capabilities.ts";

/** A piece of an answer, as it arrives. */
export type Delta = Exclude<ModelEvent, { readonly type: "retry" | "reply" }>;

/** The tokens of an answer as its provider counted them; what it does not say is left out. */
export type CountedTokens = {
  readonly input?: number | undefined;
  readonly cached?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly output?: number | undefined;
};

/** One whole answer, as the provider sent it. */
export type ProtocolAnswer = {
  readonly text: string;
  readonly reasoning: string;
  /** An id is empty if the provider sent none. */
  readonly toolCalls: readonly ToolCall[];
  /** Whether the text is why it answers nothing else, where the provider says so. */
  readonly refused?: boolean;
  /** Left out if the answer ended without a reason. */
  readonly finish: Exclude<ModelReply["finish"], "tool-calls"> | undefined;
  readonly usage: CountedTokens;
  readonly carried?: Carried;
};

/** How long one request may be silent, and what ends it. */
export type AnswerSignals = {
  /** The caller's. */
  readonly signal: AbortSignal;
  /** Closes the connection; aborts with the caller's too. */
  readonly connection: AbortSignal;
};

/** A way to ask a model: the protocol of its endpoint. */
export interface Protocol {
  /**
   * Asks once and yields the answer's pieces. Throws a ModelFailure or the signal's reason. Retries
   * nothing, and notices a stall itself.
   */
  answer(request: ModelRequest, traits: Traits, signals: AnswerSignals): AsyncGenerator<Delta, ProtocolAnswer>;
}
