import { APICallError } from "@ai-sdk/provider";
import { failureOf, sentenceOf } from "../chat/classify.ts";
import { ModelFailure } from "../model-failure.ts";

/** Turns an error of a provider's SDK, or of its connection, into the failure of the attempt. */
export function classifyNative(error: unknown, apiKey: string | undefined, now: number): ModelFailure {
  if (error instanceof ModelFailure) return error;
  if (error instanceof Error && error.cause instanceof ModelFailure) return error.cause;
  if (APICallError.isInstance(error)) return failureOf(callFacts(error), apiKey, now);
  return failureOf(streamFacts(error), apiKey, now);
}

function callFacts(error: APICallError) {
  const { statusCode: status, responseHeaders, responseBody = "" } = error;
  return {
    status,
    headers: responseHeaders && new Headers(responseHeaders),
    sentence: status === undefined ? sentenceOf(error) : said(error.message, responseBody),
    code: responseBody.slice(0, longestDetail),
    detail: responseBody.slice(0, longestDetail),
    unreached: status === undefined,
  };
}

/** An error page may be of any size. */
const longestDetail = 4_000;

/** The provider's own sentence, where the SDK only has the status. */
function said(message: string, body: string): string {
  const own = /"(?:message|Message)"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(body)?.[1];
  return own === undefined || message.includes(own) ? message : own.replaceAll('\\"', '"');
}

/** An error in a stream is the provider's object, or what failed while reading it. */
function streamFacts(error: unknown) {
  const { type, code, message } = (typeof error === "object" && error !== null ? error : {}) as {
    readonly type?: unknown;
    readonly code?: unknown;
    readonly message?: unknown;
  };
  const detail = error instanceof Error ? "" : JSON.stringify(error);
  return {
    status: undefined,
    headers: undefined,
    sentence:
      typeof message === "string" && !(error instanceof Error)
        ? message
        : sentenceOf(error instanceof Error ? error : detail),
    code: `${String(type ?? "")} ${String(code ?? "")}`,
    detail,
    unreached: false,
  };
}
