import type { Json } from "./json.ts";

/** An image for a model; `data` is base64. */
export type ImagePart = { readonly type: "image"; readonly mediaType: string; readonly data: string };

/** A text for a model. */
export type TextPart = { readonly type: "text"; readonly text: string };

/**
 * A call the model asks for. `arguments` is the text it wrote, which should be JSON but may not be.
 */
export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string };

/**
 * What a provider wants back with an answer of its own, in the order it was given: signed thinking,
 * thought signatures, reasoning items. Opaque to us, and sent only to the model that `of` names.
 */
export type Carried = { readonly of: string; readonly parts: readonly Json[] };

/** What the model answered. */
export type AssistantMessage = {
  readonly role: "assistant";
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly carried?: Carried;
};

/** The result of a call; `Image` is an image for the model, or a reference to one. */
export type ToolMessage<Image = ImagePart> = {
  readonly role: "tool";
  readonly callId: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
  readonly images?: readonly Image[];
};

/** One message of a conversation, provider-neutral. */
export type ModelMessage =
  | { readonly role: "system"; readonly text: string }
  | { readonly role: "user"; readonly parts: readonly (TextPart | ImagePart)[] }
  | AssistantMessage
  | ToolMessage;

/** A tool definition as models get it. */
export type ToolSpec = { readonly name: string; readonly description: string; readonly inputSchema: JsonSchema };

/** A JSON Schema object (draft 2020-12), as Zod and MCP servers give it. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Whether the model may, may not or must call a tool, or the one it must call. */
export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

/** A request to a model. */
export type ModelRequest = {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  readonly toolChoice: ToolChoice;
  /** Upper bound for this answer; the model's own bound when left out. */
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /**
   * How many of the messages, from the first, the next request of the conversation begins with too,
   * so that the provider may cache them. If left out, nothing is marked for a cache.
   */
  readonly stableMessages?: number;
  /**
   * What the whole answer has to be, as JSON; endpoints that cannot hold a model to it ignore it.
   */
  readonly answerSchema?: JsonSchema;
};

/**
 * Tokens and money of one call. `costUsd` is null when no price is known: unknown is never zero.
 */
export type Usage = {
  readonly inputTokens: number;
  /** Of the input tokens, those the provider's cache served. */
  readonly cachedInputTokens: number;
  /** Of the input tokens, those the provider wrote to its cache; left out if it reports none. */
  readonly cacheWriteTokens?: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
  /** Whether the numbers are the provider's or estimated because it gave none. */
  readonly source: "provider" | "estimate";
};

/**
 * The whole answer. `length` means it was cut off, by its token limit or by a stream that ended
 * without a reason; a tool call whose arguments were cut off is left out. Call ids are unique
 * within the conversation.
 */
export type ModelReply = {
  readonly text: string;
  readonly reasoning?: string;
  readonly toolCalls: readonly ToolCall[];
  /** To be sent back with this answer, if the provider wants that. */
  readonly carried?: Carried;
  readonly finish: "stop" | "tool-calls" | "length" | "content-filter";
  /** Whether the text is why the model does not do what was asked, where its provider says so. */
  readonly refused?: boolean;
  readonly usage: Usage;
  /** The model that actually answered: the fallback's name if the fallback did. */
  readonly model: string;
};

/**
 * What a call yields: deltas as they arrive, `retry` when everything so far is void, and `reply` as
 * the last event.
 */
export type ModelEvent =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly text: string }
  | { readonly type: "tool-call-delta"; readonly index: number; readonly name: string; readonly arguments: string }
  | {
      readonly type: "retry";
      readonly attempt: number;
      readonly waitMs: number;
      readonly cause: string;
      /** Usage of the void answer, if there was one: it is paid for. */
      readonly usage?: Usage;
    }
  | { readonly type: "reply"; readonly reply: ModelReply };

/** What a model can do, from configuration; see `capabilities.ts` for the defaults. */
export type Capabilities = {
  readonly tools: boolean;
  readonly parallelToolCalls: boolean;
  readonly vision: boolean;
  /** Tokens of input and output together. */
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
};

/** The tokens of a call that have a price. */
export type PricedTokens = Pick<Usage, "inputTokens" | "cachedInputTokens" | "cacheWriteTokens" | "outputTokens">;

/**
 * How a provider counts an image: the largest size before it scales the image down, and the tokens
 * the image counts for. Sizes in pixels.
 *
 * `tiles`: fitted into `square`, then its shorter side made `shorter` at most; `base` tokens and
 * `each` for every tile of `tile` pixels. `patches`: `each` tokens for every patch of `patch`
 * pixels, `most` patches and `longest` pixels a side at most.
 */
export type ImageRule =
  | {
      readonly kind: "tiles";
      readonly tile: number;
      readonly base: number;
      readonly each: number;
      readonly square: number;
      readonly shorter?: number;
    }
  | {
      readonly kind: "patches";
      readonly patch: number;
      readonly each: number;
      readonly most?: number;
      readonly longest?: number;
    };

/**
 * Options of one call. `signal` ends it; `principal` is whose call it is: principals that wait for
 * the same limit take turns.
 */
export type ModelAskOptions = { readonly signal: AbortSignal; readonly principal?: string };

/**
 * A language model. `ask` rejects with an AppError (`model_rejected`, `model_unavailable`,
 * `rate_limited`, `context_overflow`) or with the signal's reason; it never ends without a `reply`.
 * Retries happen inside.
 */
export interface Model {
  /** The model's name at its provider. */
  readonly name: string;
  /** Who serves it, for people: a host name, or `rehearsal`. */
  readonly provider: string;
  readonly capabilities: Capabilities;
  /** How images are counted. */
  readonly imageRule: ImageRule;
  /** The models that do parts of an agent's work in its place, where the settings name any. */
  readonly roles?: ModelRoles;
  /** US dollars for these tokens; null when no price is known. */
  cost(tokens: PricedTokens): number | null;
  ask(request: ModelRequest, options: ModelAskOptions): AsyncIterable<ModelEvent>;
}

/**
 * `summary` sums up a conversation that outgrows its window, `extract` answers tools' inquiries.
 */
export type ModelRoles = { readonly summary?: Model; readonly extract?: Model };
