import { ContentTypeNotSupportedError } from "@a2a-js/sdk/errors";
import type { Context, MiddlewareHandler } from "hono";
import { AppError } from "../core/errors.ts";

/** The most bytes of one request. */
export const longestBody = 10 * 1024 * 1024;

/**
 * The most that a server takes in before it breaks off by itself: between the two a body is refused
 * in our words.
 */
export const mostTakenIn = 2 * longestBody;

/** How long a request's body may take to arrive. */
const arrivesWithinMs = 300_000;

/** How long the body of somebody may take who is known only by it. */
export const strangersMs = 30_000;

/**
 * Refuses a request body above 10 MB with `too_large`, unread if its length is announced, and a
 * body that breaks off with `invalid_input`, since that is the client's fault.
 */
export function limitedBody(): MiddlewareHandler {
  return async (c, next) => {
    await bodyOf(c);
    await next();
  };
}

/**
 * The body of a request, refused as by `limitedBody`, or if it is packed, or is not whole after so
 * many milliseconds; Hono keeps it for whoever reads it again.
 */
export async function bodyOf(c: Context, withinMs = arrivesWithinMs): Promise<ArrayBuffer> {
  const { headers } = c.req.raw;
  refusePacked(headers);
  if (Number(headers.get("Content-Length")) > longestBody) tooLarge();
  const late = Promise.withResolvers<never>();
  const message = `The request's body was not whole after ${withinMs / 1000} seconds`;
  const timer = setTimeout(() => late.reject(new AppError("invalid_input", message)), withinMs);
  try {
    // Never as a stream: of one that comes in pieces of one byte, each would be a turn of our code.
    const body = await Promise.race([c.req.arrayBuffer(), late.promise]);
    return body.byteLength > longestBody ? tooLarge() : body;
  } catch (error) {
    refuseBrokenOff(error);
    // The server has answered already.
    if (error instanceof Error && error.message.includes("maxRequestBodySize")) tooLarge();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Throws `unsupported` for a body that is packed. */
export function refusePacked(headers: Headers): void {
  if ((headers.get("Content-Encoding") ?? "identity").toLowerCase() !== "identity")
    throw new AppError("unsupported", "Send the body as it is, without a Content-Encoding");
}

/** Throws `too_large`, for a request above `longestBody`. */
export function tooLarge(): never {
  throw new AppError("too_large", "A request may have at most 10 MB");
}

/**
 * Throws `invalid_input` if reading a request failed because its client disconnected, which is not
 * our failure.
 */
export function refuseBrokenOff(error: unknown): void {
  if (error instanceof DOMException && error.name === "AbortError")
    throw new AppError("invalid_input", "The request broke off before its body was whole", { cause: error });
}

/**
 * Refuses a body whose content type is not JSON. Browsers preflight cross-site JSON requests, but
 * not plain-text ones.
 */
export const jsonBody: MiddlewareHandler = async (c, next) => {
  requireJson(c);
  await next();
};

/** As `jsonBody`. */
export function requireJson(c: Context): void {
  const type = c.req.header("Content-Type");
  if (type !== undefined && !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) {
    throw new ContentTypeNotSupportedError("Send the body as Content-Type: application/json");
  }
}
