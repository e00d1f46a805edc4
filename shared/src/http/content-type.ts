import { ContentTypeNotSupportedError } from "@a2a-js/sdk/errors";
import type { MiddlewareHandler } from "hono";

/**
 * Refuses a body that says it is something other than JSON. A browser asks before it lets a page of another site send JSON, but
 * not before it lets it send text.
 */
export const jsonBody: MiddlewareHandler = async (c, next) => {
  const type = c.req.header("Content-Type");
  if (type !== undefined && !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) {
    throw new ContentTypeNotSupportedError("Send the body as Content-Type: application/json");
  }
  await next();
};
