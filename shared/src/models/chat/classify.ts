import { APIConnectionError, APIConnectionTimeoutError, APIError } from "openai/error";
import { errnoOf } from "../../core/errors.ts";
import { type FailureKind, ModelFailure } from "../model-failure.ts";
import { saysOverflow, windowNamed } from "./overflow.ts";

const quota = /insufficient.?(quota|balance|credit)|exceeded your current quota|billing|credit balance/i;

/** What is known of an error, whichever library reports it. */
export type ErrorFacts = {
  /** HTTP's; left out if the connection failed, or for an error within a stream. */
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  readonly sentence: string;
  /** The provider's own words for the kind of error. */
  readonly code: string;
  /** The rest of what it said, as text. */
  readonly detail: string;
  /** Whether no connection was made. */
  readonly unreached: boolean;
};

/** Turns an error of the SDK, or of its connection, into the failure of the attempt. */
export function classify(error: unknown, apiKey: string | undefined, now: number): ModelFailure {
  if (error instanceof ModelFailure) return error;
  if (error instanceof Error && error.cause instanceof ModelFailure) return error.cause;
  const isKnown = error instanceof APIError;
  const facts = {
    status: statusOf(error),
    headers: isKnown ? error.headers : undefined,
    sentence: sentenceOf(error),
    code: codeOf(error),
    detail: isKnown ? JSON.stringify(error.error ?? "") : "",
    unreached: error instanceof APIConnectionError && !(error instanceof APIConnectionTimeoutError),
  };
  return failureOf(facts, apiKey, now);
}

/** The failure of an attempt that ended with this error; no key is left in its words. */
export function failureOf(facts: ErrorFacts, apiKey: string | undefined, now: number): ModelFailure {
  const { status, headers, detail } = facts;
  const sentence = redactKeys(facts.sentence, apiKey);
  const waitMs = retryAfterMs(headers, now) ?? retryAfterText(`${sentence} ${detail}`);
  const kind = kindOf(facts, `${facts.code} ${sentence}`, waitMs);
  const advice = kind === "overflow" ? overflowAdvice(`${sentence} ${detail}`) : adviceFor(kind, status);
  return new ModelFailure(kind, sentence, {
    ...(waitMs !== undefined && { retryAfterMs: waitMs }),
    ...(advice !== undefined && { advice }),
  });
}

/**
 * Servers that keep a smaller window than the model could have are common where people run their
 * own.
 */
function overflowAdvice(text: string): string | undefined {
  const window = windowNamed(text);
  if (window === undefined) return undefined;
  return `Its window is ${window} tokens: say so with \`context_window = ${window}\` in [llm.capabilities].`;
}

/** Advice for a failure that does not pass with time. */
function adviceFor(kind: FailureKind, status: number | undefined): string | undefined {
  if (kind === "quota") return "The account has nothing left: top it up, or set another model or `llm.fallback`.";
  if (kind === "unreached") return "See whether `llm.base_url` is right and the server runs.";
  if (kind !== "rejected") return undefined;
  if (status === 401 || status === 403) return "See whether `llm.api_key` is the key for this model at `llm.base_url`.";
  if (status === 404) return "See whether `llm.model` is a name that `llm.base_url` knows.";
  return "The same request would be refused again.";
}

/**
 * No status means that the connection failed, or that an error without a code arrived mid-stream;
 * both may pass.
 */
function kindOf({ status, unreached }: ErrorFacts, text: string, waitMs: number | undefined): FailureKind {
  const clientError = status === undefined || (status >= 400 && status < 500);
  if (status !== 401 && saysOverflow(text, { serverError: !clientError })) return "overflow";
  // Some providers also call a per-minute limit a quota, and say when it ends.
  if (status === 402 || (clientError && waitMs === undefined && quota.test(text))) return "quota";
  if (status === 413) return "overflow";
  if (unreached) return "unreached";
  if (status === 429 || (status === undefined && /rate.?limit/i.test(text))) return "rate-limited";
  if (status === undefined || status >= 500 || status === 408 || status === 409 || status === 425) return "unavailable";
  return "rejected";
}

/** An error inside a stream has no HTTP status, but some gateways put one into its code. */
function statusOf(error: unknown): number | undefined {
  if (!(error instanceof APIError)) return undefined;
  if (error.status !== undefined) return error.status;
  const code = Number(error.code);
  return code >= 400 && code < 600 ? code : undefined;
}

function codeOf(error: unknown): string {
  return error instanceof APIError ? `${error.code ?? ""} ${error.type ?? ""}` : "";
}

/** An error's words and its cause's. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (errnoOf(cause) === "ECONNREFUSED") return "Connection refused";
  return cause instanceof Error && cause.message !== "" ? `${error.message} (${cause.message})` : error.message;
}

/** The wait that a provider, such as Google, asks for in its error text. */
function retryAfterText(sentence: string): number | undefined {
  const seconds = /(?:\b(?:retry|try again) in |"retryDelay": ?")(\d+(?:\.\d+)?) ?s(?:ec|\b)/i.exec(sentence)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** The wait a provider asks for: milliseconds, seconds or a date. */
function retryAfterMs(headers: Headers | undefined, now: number): number | undefined {
  const milliseconds = headers?.get("retry-after-ms");
  if (milliseconds != null && Number(milliseconds) >= 0) return Number(milliseconds);
  const after = headers?.get("retry-after");
  if (after == null) return undefined;
  if (Number(after) >= 0) return Number(after) * 1000;
  const date = Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const keyLike =
  /\b(?:sk|pk|rk|gsk|xai|key)[-_][\w*.-]{6,}|\bBearer\s+[^\s"']+|\bAIza[\w-]{10,}|([?&](?:api[-_]?key|key)=)[^&\s"]+/gi;

/**
 * Shorter keys are placeholders for servers without keys ("none", "ollama"), and ordinary words.
 */
const shortestKey = 8;

/**
 * A text without the given key and anything that looks like a key, since providers quote keys, or
 * parts of them, in errors.
 */
export function redactKeys(text: string, apiKey: string | undefined): string {
  const known = apiKey === undefined || apiKey.length < shortestKey ? text : text.replace(wholly(apiKey), "[key]");
  return known.replace(keyLike, (_, query: string | undefined) => `${query ?? ""}[key]`);
}

/** Matches the key where it is not part of a longer word. */
function wholly(key: string): RegExp {
  return new RegExp(`(?<![\\w-])${RegExp.escape(key)}(?![\\w-])`, "g");
}
