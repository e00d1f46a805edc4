import {
  A2A_CONTENT_TYPE,
  ListTasksRequest,
  type ListTasksResponse,
  SendMessageRequest,
  StreamResponse,
  Task,
} from "@a2a-js/sdk";
import { type Context, Hono } from "hono";
import { jsonBody, limitedBody } from "../../http/request-body.ts";
import { type SseFrame, sseResponse } from "../../http/sse.ts";
import { AppFailure, restError, toA2AError } from "../wire-error.ts";
import type { HttpCall } from "./http-call.ts";
import { receiverRoutes } from "./receiver-routes.ts";
import { checked, requestSchemas } from "./request-schema.ts";
import { begin, bodyOf, json, optionalBodyOf, query, type RestDeps } from "./rest-call.ts";
import { seqOf } from "./rpc-frame.ts";

/** The HTTP+JSON binding of A2A 1.0 (section 11), to be mounted at the agent's root. */
export function restApp(deps: RestDeps): Hono {
  const { handler } = deps;
  const app = new Hono({ strict: false });
  app.onError((error) => restFailure(error, deps.report));

  app.post("/message:send", jsonBody, limitedBody(), async (c) => {
    const { call, request } = await sending(deps, c, "SendMessage");
    const sent = await handler.sendMessage(request, call.context);
    return json(call, "messageId" in sent ? { message: sent } : { task: Task.toJSON(sent) });
  });
  app.post("/message:stream", jsonBody, limitedBody(), async (c) => {
    const { call, request } = await sending(deps, c, "SendStreamingMessage");
    return streamed(deps, call, handler.sendMessageStream(request, call.context));
  });
  app.post("/tasks/:op{[^/]+:cancel}", limitedBody(), async (c) => {
    const { call, id } = await naming(deps, c, ":cancel");
    const { metadata } = checked(requestSchemas.CancelTask, { ...(await optionalBodyOf(c)), id });
    const task = await handler.cancelTask({ tenant: "", id, metadata }, call.context);
    return json(call, Task.toJSON(task));
  });
  // The proto's annotation says GET, the specification's table POST.
  app.on(["GET", "POST"], "/tasks/:op{[^/]+:subscribe}", async (c) => {
    const { call, id } = await naming(deps, c, ":subscribe");
    return streamed(deps, call, handler.resubscribe({ tenant: "", id }, call.context));
  });
  app.get("/tasks", async (c) => {
    const call = await begin(deps, c);
    const request = ListTasksRequest.fromJSON(checked(requestSchemas.ListTasks, query(c)));
    return json(call, listJson(await handler.listTasks(request, call.context), request.includeArtifacts ?? false));
  });
  app.get("/tasks/:id", async (c) => {
    const call = await begin(deps, c);
    const params = checked(requestSchemas.GetTask, { ...query(c), id: c.req.param("id") });
    return json(call, Task.toJSON(await handler.getTask({ tenant: "", ...params }, call.context)));
  });
  app.route("/", receiverRoutes(deps));
  app.get("/extendedAgentCard", async (c) => {
    const call = await begin(deps, c);
    return json(call, await handler.getAuthenticatedExtendedAgentCard({ tenant: "" }, call.context));
  });
  return app;
}

/** An HTTP+JSON error response, with ErrorInfo, and BadRequest where fields are at fault. */
export function restFailure(error: unknown, report: (bug: unknown) => void): Response {
  const failure = toA2AError(error, report);
  const { status, body } = restError(failure);
  const headers = new Headers({ "Content-Type": A2A_CONTENT_TYPE });
  if (status === 401) headers.set("WWW-Authenticate", "Bearer");
  if (failure instanceof AppFailure && failure.status === 503) headers.set("Retry-After", "5");
  return new Response(JSON.stringify(body), { status, headers });
}

async function sending(deps: RestDeps, c: Context, method: "SendMessage" | "SendStreamingMessage") {
  const call = await begin(deps, c);
  const params = checked(requestSchemas[method], await bodyOf(c));
  return { call, request: SendMessageRequest.fromJSON(params) };
}

async function naming(deps: RestDeps, c: Context, verb: string): Promise<{ call: HttpCall; id: string }> {
  const call = await begin(deps, c);
  const id = (c.req.param("op") ?? "").slice(0, -verb.length);
  return { call, ...checked(requestSchemas.SubscribeToTask, { id }) };
}

/** The codec leaves out empty lists and an empty token, which the specification wants present. */
function listJson(list: ListTasksResponse, includeArtifacts: boolean): unknown {
  const { nextPageToken, pageSize, totalSize } = list;
  const tasks = list.tasks.map((task) => ({ ...(includeArtifacts ? { artifacts: [] } : {}), ...asObject(task) }));
  return { tasks, nextPageToken, pageSize, totalSize };
}

function asObject(task: Task): object {
  return Task.toJSON(task) as object;
}

function streamed(deps: RestDeps, call: HttpCall, updates: AsyncGenerator<StreamResponse>): Promise<Response> {
  return sseResponse(frames(updates), {
    heartbeatMs: deps.heartbeatMs,
    release: call.release,
    headers: call.headers(),
    failure: (error) => ({ data: restError(toA2AError(error, deps.report)).body, error: true }),
  });
}

async function* frames(updates: AsyncGenerator<StreamResponse>): AsyncGenerator<SseFrame> {
  for await (const update of updates) {
    const data = StreamResponse.toJSON(update);
    yield { data, id: seqOf(data) };
  }
}
