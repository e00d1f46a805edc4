import { APIError } from "openai";
import { type FailureKind, ModelFailure } from "./model-failure.ts";
import { redactKeys } from "./redact.ts";

const overflow =
  /context.?(length|window)|maximum context|prompt is too long|input is too long|too many (input )?tokens|input token count|reduce the length|request too large/i;
const quota = /insufficient.?(quota|balance|credit)|exceeded your current quota|billing|credit balance/i;

/** What an error of the SDK, or of the connection below it, means for the attempt. */
export function classify(error: unknown, apiKey: string | undefined, now: number): ModelFailure {
  if (error instanceof ModelFailure) return error;
  const status = statusOf(error);
  const sentence = redactKeys(sentenceOf(error), apiKey);
  const headers = error instanceof APIError ? error.headers : undefined;
  return new ModelFailure(kindOf(status, `${codeOf(error)} ${sentence}`), sentence, retryAfterMs(headers, now));
}

/** No status means the connection failed, or an error came in mid-stream without a code: both may pass. */
function kindOf(status: number | undefined, text: string): FailureKind {
  const clientError = status === undefined || (status >= 400 && status < 500);
  if (clientError && status !== 401 && overflow.test(text)) return "overflow";
  if (status === 402 || (clientError && quota.test(text))) return "quota";
  if (status === 413) return "overflow";
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

function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message !== "" ? `${error.message} (${cause.message})` : error.message;
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
