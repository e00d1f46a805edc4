import { A2AError } from "@a2a-js/sdk/errors";
import { HTTPException } from "hono/http-exception";
import { AppError, errorCodes, publicError } from "manyhands/internal/core/errors";
import { challengeOf } from "manyhands/internal/http/challenge";
import * as z from "zod";

/** The body of every error of the REST API (RFC 9457), with the code all adapters share. */
export const problemSchema = z
  .object({
    type: z.literal("about:blank"),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string(),
    retryable: z.boolean(),
  })
  .meta({
    id: "Problem",
    description: "What went wrong, by a stable code, in a sentence, and whether trying again may help.",
  });

/**
 * An error as a response. Unexpected errors go to `report`; the caller learns only that one
 * happened.
 */
export function problem(error: unknown, report: (bug: unknown) => void): Response {
  const known = expected(error);
  if (known === undefined) report(error);
  const { code, message } = publicError(known ?? error);
  const { status, retryable } = errorCodes[code];
  const headers = new Headers(challengeOf(known));
  if (status === 503) headers.set("Retry-After", "5");
  return problemResponse({ status, code, detail: message, retryable }, headers);
}

/** The response for a method that a path does not have. */
export function methodRefused(allowed: readonly string[]): Response {
  const allow = allowed.join(", ");
  const detail = `This address takes ${allow}.`;
  const headers = new Headers({ Allow: allow });
  return problemResponse({ status: 405, code: "unsupported", detail, retryable: false }, headers);
}

type Problem = z.output<typeof problemSchema>;

function problemResponse(about: Omit<Problem, "type" | "title">, headers: Headers): Response {
  headers.set("Content-Type", "application/problem+json");
  const body: Problem = { type: "about:blank", title: titles[about.status] ?? "Error", ...about };
  return new Response(JSON.stringify(body), { status: about.status, headers });
}

function expected(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error;
  // An adapter of A2A throws ours within one of its own.
  if (error instanceof A2AError && error.cause instanceof AppError) return error.cause;
  if (error instanceof A2AError) return new AppError("invalid_input", error.message);
  if (error instanceof HTTPException && error.status < 500)
    return new AppError("invalid_input", error.message || "The request cannot be read.");
  return undefined;
}

const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  424: "Failed Dependency",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};
