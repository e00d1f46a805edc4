import type { Context, Hono } from "hono";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * The methods that the address of a request takes in this app, where the request's own is none of
 * them: it is then refused with 405, and with these as `Allow`.
 */
export function otherMethods(c: Context, app: Hono): readonly string[] {
  const taken = methods.filter((method) => {
    const [found] = app.router.match(method, c.req.path);
    return found.some(([[, route]]) => route.method === method);
  });
  const own = c.req.method === "HEAD" ? "GET" : c.req.method;
  return taken.includes(own) ? [] : taken;
}
