import { ContentTypeNotSupportedError } from "@a2a-js/sdk/errors";
import type { Context, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { AppError } from "../core/errors.ts";

/** The most bytes of one request. */
export const longestBody = 10 * 1024 * 1024;

/** How long a request's body may take to arrive. */
const arrivesWithinMs = 300_000;

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

const measured = bodyLimit({ maxSize: longestBody, onError: tooLarge });

/**
 * The body of a request, refused as by `limitedBody`, or if it is packed, or is not whole after so
 * many milliseconds; Hono keeps it for whoever reads it again.
 */
export async function bodyOf(c: Context, withinMs = arrivesWithinMs): Promise<ArrayBuffer> {
  const { headers } = c.req.raw;
  refusePacked(headers);
  const length = headers.has("Transfer-Encoding") ? null : headers.get("Content-Length");
  if (length !== null && Number(length) > longestBody) tooLarge();
  const late = Promise.withResolvers<never>();
  const message = `The request's body was not whole after ${withinMs / 1000} seconds`;
  const timer = setTimeout(() => late.reject(new AppError("invalid_input", message)), withinMs);
  try {
    // A body of unknown length is read to be measured. As a stream, which costs more than all else
    // of a small request.
    if (length === null) await Promise.race([measured(c, async () => void (await c.req.arrayBuffer())), late.promise]);
    return await Promise.race([c.req.arrayBuffer(), late.promise]);
  } catch (error) {
    refuseBrokenOff(error);
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
