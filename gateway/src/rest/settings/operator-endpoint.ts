import type { Context } from "hono";
import { isFromOwnPage } from "manyhands/internal/auth/identify";
import { AppError } from "manyhands/internal/core/errors";
import { type EndpointAbout, endpoint, type RestEndpoint, type RestEnv } from "../endpoint.ts";

/**
 * An endpoint that shows or changes how the system is set up, for its operator: only callers with
 * the scope `admin`, themselves and not through an agent; of web pages only the console, whatever
 * origins may call otherwise.
 */
export function operatorEndpoint<Given extends EndpointAbout["request"]>(
  about: Omit<EndpointAbout, "request" | "scope" | "tag"> & { readonly request: Given },
  run: Parameters<typeof endpoint<Given>>[1],
): RestEndpoint {
  const own = endpoint<Given>({ ...about, tag: "settings", scope: "admin" }, run);
  return {
    ...own,
    async handle(c) {
      requireOperator(c);
      c.header("Cache-Control", "no-store");
      return own.handle(c);
    },
  };
}

function requireOperator(c: Context<RestEnv>): void {
  if (c.get("caller").relayed)
    throw new AppError("forbidden", "Settings are for the operator; a run cannot read or change them.");
  if (!isFromOwnPage(c.req.raw.headers))
    throw new AppError("forbidden", "Of all web pages, only the console may read and change the settings.");
}
