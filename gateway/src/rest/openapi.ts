import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from "zod-openapi";
import { problemsOf, type RestEndpoint } from "./endpoint.ts";
import { problemSchema } from "./problem.ts";

/** The description of the API (OpenAPI 3.1), made from the endpoints themselves. */
export function openApiDocument(
  endpoints: readonly RestEndpoint[],
  about: { readonly version: string; readonly publicUrl: string },
): ReturnType<typeof createDocument> {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const one of endpoints) paths[one.path] = { ...paths[one.path], [one.method]: operation(one) };
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "Manyhands",
      version: about.version,
      description:
        "Agents and flows of agents. Everything that takes long is a run: start it, watch it, answer it, cancel it.",
    },
    servers: [{ url: about.publicUrl }],
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer", description: "Where a token is configured." } },
    },
    security: [{}, { bearer: [] }],
    paths: paths as ZodOpenApiPathsObject,
  });
}

function operation(endpoint: RestEndpoint): ZodOpenApiOperationObject {
  const { tag, summary, description, request, answers } = endpoint;
  const { params, query, headers, body } = request;
  const succeeding = Object.entries(answers).map(([status, answer]) => [
    status,
    {
      description: answer.description,
      ...(answer.body && { content: { [answer.mediaType ?? "application/json"]: { schema: answer.body } } }),
    },
  ]);
  const content = { "application/problem+json": { schema: problemSchema } };
  const failing = problemsOf(endpoint).map((status) => [
    String(status),
    { description: meanings[status] ?? "An error.", content },
  ]);
  return {
    tags: [tag],
    summary,
    ...(description && { description }),
    requestParams: { ...(params && { path: params }), ...(query && { query }), ...(headers && { header: headers }) },
    ...(body && { requestBody: { required: true, content: { "application/json": { schema: body } } } }),
    responses: Object.fromEntries([...succeeding, ...failing]),
  };
}

const meanings: Readonly<Record<number, string>> = {
  400: "The request is invalid; the detail names the field.",
  401: "The token is missing or wrong.",
  403: "You may not do this, or the request comes from a page of another site.",
  404: "It does not exist, or belongs to somebody else.",
  409: "It conflicts with what is there: the run has ended, or the key was used for another request.",
  413: "The body is larger than 10 MB.",
  415: "The body is not JSON.",
  429: "You have reached a limit; `Retry-After` says when there is room again.",
  502: "The service behind it gave no usable answer.",
  503: "Not available now; try again later.",
  504: "It did not answer in time.",
};
