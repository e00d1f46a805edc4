import type { Context } from "hono";
import { AppError } from "manyhands/internal/core/errors";
import type * as z from "zod";

/** What requests carry through the REST face: who sends them. */
export type RestEnv = { readonly Variables: { readonly principal: string } };

/** A request's parts by their schemas; those left out are not read. Header names are lower case. */
type Parts = {
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
};

type Checked<Given extends Parts> = {
  readonly [Part in keyof Given]: Given[Part] extends z.ZodType ? z.output<Given[Part]> : never;
};

/** An answer of an endpoint: what it means, and its body where it has one. */
export type ResponseSpec = { readonly description: string; readonly body?: z.ZodType; readonly mediaType?: string };

/** What an endpoint is told and says, for the description of the API. */
export type EndpointAbout = {
  readonly method: "get" | "post" | "delete";
  /** With parameters in braces, as OpenAPI writes them. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly request: Parts;
  readonly answers: Readonly<Record<number, ResponseSpec>>;
  /**
   * The statuses of the errors it may answer with, beside those that `problemsOf` knows from the
   * request.
   */
  readonly problems: readonly number[];
};

/** One operation of the REST face: described, checked and carried out from one place. */
export type Endpoint = EndpointAbout & { handle(c: Context<RestEnv>): Promise<Response> };

/**
 * The statuses of all errors an operation may answer with, in order: its own, and those that a
 * request of its form can meet.
 */
export function problemsOf({ request, problems }: EndpointAbout): readonly number[] {
  const ofForm = Object.keys(request).length > 0 ? [400] : [];
  const ofBody = request.body === undefined ? [] : [413, 415];
  return [...new Set([...ofForm, 401, 403, ...ofBody, ...problems, 503])].toSorted((a, b) => a - b);
}

/**
 * An endpoint whose `run` gets the request's parts as their schemas make them. Throws
 * `invalid_input` naming the field that does not fit.
 */
export function endpoint<Given extends Parts>(
  about: Omit<EndpointAbout, "request"> & { readonly request: Given },
  run: (input: Checked<Given>, c: Context<RestEnv>) => Promise<Response> | Response,
): Endpoint {
  const { params, query, headers, body } = about.request;
  return {
    ...about,
    async handle(c) {
      const input = {
        ...(params && { params: fitting(params, c.req.param(), "path") }),
        ...(query && { query: fitting(query, c.req.query(), "query") }),
        ...(headers && { headers: fitting(headers, c.req.header(), "header") }),
        ...(body && { body: fitting(body, await c.req.json(), "body") }),
      };
      return run(input as Checked<Given>, c);
    },
  };
}

function fitting(schema: z.ZodType, given: unknown, place: string): unknown {
  const checked = schema.safeParse(given);
  if (checked.success) return checked.data;
  const faults = checked.error.issues.map(
    ({ path, message }) => `${[place, ...path].map(String).join(".")}: ${message}`,
  );
  throw new AppError("invalid_input", faults.join("; ").slice(0, 1000));
}
