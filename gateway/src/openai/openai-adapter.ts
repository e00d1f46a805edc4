import { type Context, Hono } from "hono";
import { type Identify, requireScope } from "manyhands/internal/core/caller";
import { checkInput } from "manyhands/internal/core/check-input";
import { AppError, errorCodes, publicError } from "manyhands/internal/core/errors";
import type { Engine, RunRecord } from "manyhands/internal/core/runs/engine";
import { settingsMetadata } from "manyhands/internal/core/runs/task";
import { requestTrace, type Trace } from "manyhands/internal/core/trace";
import { challengeOf } from "manyhands/internal/http/challenge";
import { parseJsonBytes } from "manyhands/internal/http/json-text";
import { otherMethods } from "manyhands/internal/http/other-methods";
import { bodyOf } from "manyhands/internal/http/request-body";
import { sseResponse } from "manyhands/internal/http/sse";
import { findRunnable, type Runnables } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import { chatParts, chatSources } from "./chat-parts.ts";
import { type ChatRequest, chatRequest, outputSchemaOf } from "./chat-request.ts";
import { chunks } from "./chunks.ts";
import { completion } from "./completion.ts";
import { chatMetadata, runOfChat } from "./conversation.ts";

/** What the OpenAI-compatible adapter needs. */
export type OpenAiAdapterDeps = {
  readonly runs: Runs;
  readonly runnables: Runnables;
  readonly engine: Engine;
  readonly heartbeatMs: number;
  readonly identify: Identify;
  readonly report: (bug: unknown) => void;
};

const longestRunMs = 3_600_000;

/**
 * `/v1/models` and `/v1/chat/completions`: every flow and agent as a model, for any chat front end.
 * A chat that continues after a run's question answers it; one that continues after an answer stays
 * in the run's conversation. Disconnecting cancels the run: front ends stop that way.
 */
export function openAiAdapter(deps: OpenAiAdapterDeps): Hono {
  const app = new Hono({ strict: false }).basePath("/v1");
  app.onError((error) => failure(error, deps.report));
  app.get("/models", async (c) => {
    requireScope(await deps.identify(c.req.raw), "read");
    return c.json({ object: "list", data: deps.runnables.all().map(({ name }) => model(name)) });
  });
  app.get("/models/:name", async (c) => {
    requireScope(await deps.identify(c.req.raw), "read");
    return c.json(model(findRunnable(deps.runnables, c.req.param("name")).name));
  });
  app.post("/chat/completions", async (c) => {
    const caller = await deps.identify(c.req.raw);
    requireScope(caller, "run");
    const request = await requestOf(c);
    const run = await begin(request, caller.principal, requestTrace(c.req.raw), deps);
    return request.stream === true ? streamed(run, request, c, deps) : whole(run, request, c, deps);
  });
  app.all("/*", (c) => {
    const allowed = otherMethods(c, app);
    if (allowed.length > 0) return methodRefused(allowed);
    throw new AppError("not_found", "This API has /v1/models and /v1/chat/completions.");
  });
  return app;
}

function model(name: string) {
  return { id: name, object: "model", created: 0, owned_by: "manyhands" };
}

async function requestOf(c: Context): Promise<ChatRequest> {
  const bytes = new Uint8Array(await bodyOf(c));
  let body: unknown;
  try {
    body = parseJsonBytes(bytes);
  } catch (error) {
    throw new AppError("invalid_input", error instanceof Error ? error.message : "The body is not JSON.");
  }
  return checkInput(chatRequest, body, "body");
}

/**
 * The run that answers this chat: the one that asked a question in it, or a new one in the chat's
 * conversation.
 */
async function begin(
  request: ChatRequest,
  principal: string,
  trace: Trace | undefined,
  deps: OpenAiAdapterDeps,
): Promise<RunRecord> {
  const { model, messages } = request;
  const { runs, runnables } = deps;
  const runnable = findRunnable(runnables, model);
  const former = await runOfChat(messages, runnable, runs, principal);
  const parts = chatParts(messages, former !== undefined && runnable.type === "agent");
  const messageId = crypto.randomUUID();
  if (former !== undefined && (await runs.view(former)).question !== undefined) {
    return runs.answer(former.id, { messageId, parts: chatParts(messages, true) }, principal);
  }
  const { team } = runnable;
  const metadata = { ...chatMetadata(messages), ...settingsMetadata(team === undefined ? {} : { agents: team }) };
  const message = { messageId, parts, metadata };
  const outputSchema = outputSchemaOf(request);
  const form = { ...(outputSchema && { outputSchema }), ...(trace && { trace }) };
  const takenIn = chatSources(messages, former !== undefined);
  const brought = takenIn.length > 0 ? { takenIn } : {};
  return runs.start(runnable, { message, contextId: former?.contextId, ...form, ...brought }, principal);
}

async function whole(run: RunRecord, request: ChatRequest, c: Context, { runs }: OpenAiAdapterDeps): Promise<Response> {
  const gone = c.req.raw.signal;
  const settled = await runs.settled(run, AbortSignal.any([gone, AbortSignal.timeout(longestRunMs)]));
  if (gone.aborted) await giveUp(run, runs);
  const json = outputSchemaOf(request) !== undefined;
  return c.json(completion(await runs.view(settled), request.model, { json }));
}

function streamed(run: RunRecord, request: ChatRequest, c: Context, deps: OpenAiAdapterDeps): Promise<Response> {
  const over = new AbortController();
  const gone = c.req.raw.signal;
  const options = {
    model: request.model,
    json: outputSchemaOf(request) !== undefined,
    includeUsage: request.stream_options?.include_usage === true,
    signal: AbortSignal.any([gone, over.signal]),
  };
  return sseResponse(chunks(run, deps, options), {
    heartbeatMs: deps.heartbeatMs,
    release() {
      over.abort();
      // The store may be away, or closed as the server ends: no bug of ours.
      giveUp(run, deps.runs).catch((error) => {
        if (!(error instanceof AppError)) deps.report(error);
      });
    },
    // A stream that fails because its client is gone is not reported.
    failure: (error) => ({ data: { error: errorBody(error, gone.aborted ? () => undefined : deps.report) } }),
    headers: {},
  });
}

/** Cancels a run nobody waits for any more, unless it has ended, asks a question or is paused. */
async function giveUp({ id, principal }: RunRecord, runs: Runs): Promise<void> {
  const { status, question } = await runs.view(await runs.own(id, principal));
  if (["completed", "failed", "canceled", "paused"].includes(status) || question !== undefined) return;
  await runs.cancel(id, principal, AbortSignal.timeout(10_000));
}

function failure(error: unknown, report: (bug: unknown) => void): Response {
  const body = errorBody(error, report);
  const { status } = errorCodes[body.code];
  const headers = { ...challengeOf(error), ...(status === 503 && { "Retry-After": "5" }) };
  return Response.json({ error: body }, { status, headers });
}

const types: Readonly<Record<number, string>> = { 401: "authentication_error", 429: "rate_limit_error" };

function methodRefused(allowed: readonly string[]): Response {
  const allow = allowed.join(", ");
  const message = `This address takes ${allow}.`;
  const error = { message, type: "invalid_request_error", param: null, code: "unsupported" };
  return Response.json({ error }, { status: 405, headers: { Allow: allow } });
}

/** An error as clients of this API read it. */
function errorBody(error: unknown, report: (bug: unknown) => void) {
  if (!(error instanceof AppError)) report(error);
  const { code, message } = publicError(error);
  const { status } = errorCodes[code];
  const type = types[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  return { message, type, param: null, code };
}
