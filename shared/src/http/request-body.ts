import { ContentTypeNotSupportedError } from "@a2a-js/sdk/errors";
import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { AppError } from "../core/errors.ts";

/** The most bytes of one request. */
export const longestBody = 10 * 1024 * 1024;

/**
 * Refuses a request body above 10 MB with `too_large`, unread if its length is announced, and a
 * body that breaks off with `invalid_input`, since that is the client's fault.
 */
export function limitedBody(): MiddlewareHandler {
  const limited = bodyLimit({
    maxSize: longestBody,
    onError: () => {
      throw new AppError("too_large", "A request may have at most 10 MB");
    },
  });
  return async (c, next) => {
    // A chunked body is read to be measured, any other only here; both are cached for the handler.
    const read = limited(c, async () => void (await c.req.arrayBuffer()));
    await read.catch((error: unknown) => {
      refuseBrokenOff(error);
      throw error;
    });
    await next();
  };
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
  const type = c.req.header("Content-Type");
  if (type !== undefined && !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) {
    throw new ContentTypeNotSupportedError("Send the body as Content-Type: application/json");
  }
  await next();
};
