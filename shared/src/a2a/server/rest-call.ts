import { A2A_CONTENT_TYPE } from "@a2a-js/sdk";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import type { Context } from "hono";
import { JsonTextError, parseJsonBytes } from "../../http/json-text.ts";
import { requireVersionOne } from "../version.ts";
import { FieldViolationsError } from "../wire-error.ts";
import { type HttpCall, httpCall } from "./http-call.ts";

/** What the HTTP+JSON binding needs. */
export type RestDeps = {
  readonly handler: A2ARequestHandler;
  readonly identify: (request: Request) => Promise<string> | string;
  readonly heartbeatMs: number;
  readonly report: (bug: unknown) => void;
};

/** Reads who calls, and in which version. Throws `unauthorized` or VersionNotSupportedError. */
export async function begin(deps: RestDeps, c: Context): Promise<HttpCall> {
  const principal = await deps.identify(c.req.raw);
  requireVersionOne(c.req.raw);
  return httpCall(c.req.raw, principal, "1.0");
}

/** The JSON of a request's body. Throws FieldViolationsError. */
export async function bodyOf(c: Context): Promise<unknown> {
  try {
    return parseJsonBytes(new Uint8Array(await c.req.arrayBuffer()));
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new FieldViolationsError([{ field: "body", description: error.message }]);
  }
}

/** The JSON object of a request that may have no body. Throws FieldViolationsError. */
export async function optionalBodyOf(c: Context): Promise<object> {
  if ((await c.req.arrayBuffer()).byteLength === 0) return {};
  const body = await bodyOf(c);
  if (typeof body === "object" && body !== null) return body;
  throw new FieldViolationsError([{ field: "body", description: "must be an object" }]);
}

/** The parameters in the address. */
export function query(c: Context): Record<string, string> {
  return Object.fromEntries(new URL(c.req.url).searchParams);
}

/** An answer to a call. */
export function json(call: HttpCall, value: unknown): Response {
  return new Response(JSON.stringify(value), { headers: { "Content-Type": A2A_CONTENT_TYPE, ...call.headers() } });
}
