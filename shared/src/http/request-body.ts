import { ContentTypeNotSupportedError } from "@a2a-js/sdk/errors";
import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { AppError } from "../core/errors.ts";

const longestBody = 10 * 1024 * 1024;

/**
 * Refuses a request body above 10 MB with `too_large`, before it is read where its length is
 * announced, and one that breaks off, which is its client's doing, with `invalid_input`.
 */
export function limitedBody(): MiddlewareHandler {
  const limited = bodyLimit({
    maxSize: longestBody,
    onError: () => {
      throw new AppError("too_large", "A request may have at most 10 MB");
    },
  });
  return (c, next) =>
    limited(c, async () => {
      // What was read is kept: whoever reads it again gets the same, a failure too.
      await c.req.arrayBuffer().catch(refuseBrokenOff);
      await next();
    });
}

/**
 * Throws `invalid_input` where reading a request failed because its client went away, which is no
 * failure of ours.
 */
export function refuseBrokenOff(error: unknown): void {
  if (error instanceof DOMException && error.name === "AbortError")
    throw new AppError("invalid_input", "The request broke off before its body was whole", { cause: error });
}

/**
 * Refuses a body that says it is something other than JSON. A browser asks before it lets a page of
 * another site send JSON, but not before it lets it send text.
 */
export const jsonBody: MiddlewareHandler = async (c, next) => {
  const type = c.req.header("Content-Type");
  if (type !== undefined && !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) {
    throw new ContentTypeNotSupportedError("Send the body as Content-Type: application/json");
  }
  await next();
};
