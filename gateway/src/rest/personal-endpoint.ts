import type { Context } from "hono";
import { isFromOwnPage } from "manyhands/internal/auth/identify";
import { AppError } from "manyhands/internal/core/errors";
import { type EndpointAbout, endpoint, type RestEndpoint, type RestEnv } from "./endpoint.ts";

/** What those are told who may not call a personal endpoint. */
export type PersonalRefusals = { readonly ofRuns: string; readonly ofPages: string };

/**
 * An endpoint for callers themselves: not for a run of theirs, which a page may lead; of web pages
 * only for the console, whatever origins may call otherwise. No answer is kept in a cache.
 */
export function personalEndpoint<Given extends EndpointAbout["request"]>(
  about: Omit<EndpointAbout, "request"> & { readonly request: Given },
  refusals: PersonalRefusals,
  run: Parameters<typeof endpoint<Given>>[1],
): RestEndpoint {
  const open = endpoint<Given>(about, run);
  return {
    ...open,
    async handle(c) {
      requirePerson(c, refusals);
      c.header("Cache-Control", "no-store");
      return open.handle(c);
    },
  };
}

function requirePerson(c: Context<RestEnv>, { ofRuns, ofPages }: PersonalRefusals): void {
  if (c.get("caller").relayed) throw new AppError("forbidden", ofRuns);
  if (!isFromOwnPage(c.req.raw.headers)) throw new AppError("forbidden", ofPages);
}
