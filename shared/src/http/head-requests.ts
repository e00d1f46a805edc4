import type { MiddlewareHandler } from "hono";

/**
 * Lets go of what an answer to HEAD would send. Hono answers HEAD as GET and drops the body without
 * a word, so that a stream would wait for a reader for as long as it lasts.
 */
export const headRequests: MiddlewareHandler = async (c, next) => {
  await next();
  if (c.req.method === "HEAD") await c.res.body?.cancel();
};
