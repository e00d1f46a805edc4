import type { Context } from "hono";
import type { Caller, Scope } from "manyhands/internal/core/caller";
import { checkInput } from "manyhands/internal/core/check-input";
import { AppError } from "manyhands/internal/core/errors";
import type * as z from "zod";

/** Request variables of the REST API: the caller. */
export type RestEnv = { readonly Variables: { readonly caller: Caller } };

/** Schemas of a request's parts; parts without one are not read. Header names are lower case. */
type Parts = {
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
};

type Checked<Given extends Parts> = {
  readonly [Part in keyof Given]: Given[Part] extends z.ZodType ? z.output<Given[Part]> : never;
};

/** A response of an endpoint: its meaning, and its body if it has one. */
export type ResponseSpec = { readonly description: string; readonly body?: z.ZodType; readonly mediaType?: string };

/** The description of an endpoint for the API's documentation. */
export type EndpointAbout = {
  readonly method: "get" | "post" | "delete";
  /** With parameters in braces, as OpenAPI writes them. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** What a caller needs; by default `read` for `get` and `run` for the others. */
  readonly scope?: Scope;
  readonly description?: string;
  readonly request: Parts;
  /**
   * Query parameters whose values come with commas between them or, meaning the same, one by one.
   */
  readonly lists?: readonly string[];
  readonly answers: Readonly<Record<number, ResponseSpec>>;
  /**
   * The error statuses of this endpoint, besides those that `problemsOf` derives from the request.
   */
  readonly problems: readonly number[];
};

/** One operation of the REST API: described, checked and carried out from one place. */
export type RestEndpoint = EndpointAbout & { handle(c: Context<RestEnv>): Promise<Response> };

/**
 * All error statuses of an operation, in order: its own, and those that follow from the form of its
 * request.
 */
export function problemsOf({ request, problems }: EndpointAbout): readonly number[] {
  const ofForm = Object.keys(request).length > 0 ? [400] : [];
  const ofBody = request.body === undefined ? [] : [413, 415];
  return [...new Set([...ofForm, 401, 403, ...ofBody, ...problems, 503])].toSorted((a, b) => a - b);
}

/**
 * An endpoint whose `run` receives the validated parts of the request. Throws `invalid_input` and
 * names the invalid field.
 */
export function endpoint<Given extends Parts>(
  about: Omit<EndpointAbout, "request"> & { readonly request: Given },
  run: (input: Checked<Given>, c: Context<RestEnv>) => Promise<Response> | Response,
): RestEndpoint {
  const { params, query, headers, body } = about.request;
  return {
    ...about,
    async handle(c) {
      const input = {
        ...(params && { params: checkInput(params, c.req.param(), "path") }),
        ...(query && { query: checkInput(query, queryOf(c, query, about.lists), "query") }),
        ...(headers && { headers: checkInput(headers, c.req.header(), "header") }),
        ...(body && { body: checkInput(body, await c.req.json(), "body") }),
      };
      return run(input as Checked<Given>, c);
    },
  };
}

/** The parameters of the schema. Throws `invalid_input` if one that is not a list is repeated. */
function queryOf(c: Context<RestEnv>, { shape }: z.ZodObject, lists: readonly string[] = []) {
  return Object.fromEntries(
    Object.keys(shape).flatMap((name) => {
      const given = c.req.queries(name) ?? [];
      if (given.length > 1 && !lists.includes(name))
        throw new AppError("invalid_input", "It may be given only once.", { field: `query.${name}` });
      return given.length === 0 ? [] : [[name, given.join(",")]];
    }),
  );
}
