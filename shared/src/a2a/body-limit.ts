import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { AppError } from "../errors.ts";

const longestBody = 10 * 1024 * 1024;

/** Refuses a request body above 10 MB with `too_large`, before it is read where its length is announced. */
export function limitedBody(): MiddlewareHandler {
  return bodyLimit({
    maxSize: longestBody,
    onError: () => {
      throw new AppError("too_large", "A request may have at most 10 MB");
    },
  });
}
