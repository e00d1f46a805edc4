import { SendMessageRequest, StreamResponse, SubscribeToTaskRequest } from "@a2a-js/sdk";
import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import type { A2AError } from "@a2a-js/sdk/errors";
import { JsonRpcTransportHandler } from "@a2a-js/sdk/server";
import { Hono } from "hono";
import * as z from "zod";
import type { Caller, Identify } from "../../core/caller.ts";
import { challengeOf } from "../../http/challenge.ts";
import { JsonTextError, numberText, parseJsonBytes } from "../../http/json-text.ts";
import { bodyOf, requireJson } from "../../http/request-body.ts";
import { type SseFrame, sseResponse } from "../../http/sse.ts";
import { untilRevoked } from "../../http/until-revoked.ts";
import { type ProtocolVersion, requestedVersion } from "../version.ts";
import { AppFailure, envelopeError, rpcError, toA2AError } from "../wire-error.ts";
import { callFacts, type HttpCall, httpCall, notedFailure } from "./call-context.ts";
import { legacySchemas } from "./legacy-schema.ts";
import type { RequestHandler, TaskBatches } from "./request-handler.ts";
import { checked, requestSchemas } from "./request-schema.ts";
import { endLegacyTurn, legacySeqOf, seqOf } from "./rpc-frame.ts";

/** What the JSON-RPC binding needs. */
export type JsonRpcDeps = {
  readonly handler: RequestHandler;
  readonly identify: Identify;
  readonly heartbeatMs: number;
  readonly report: (bug: unknown) => void;
};

const envelope = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  method: z.string().min(1),
  params: z.unknown().optional(),
});

/** JSON that is written as it stands; missing from TypeScript's library. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

type Deps = JsonRpcDeps & { readonly transport: JsonRpcTransportHandler };
type RpcRequest = z.output<typeof envelope>;
type RpcId = string | number | null | ReturnType<typeof rawJSON>;
/** The frames of a stream, once it is known what it answers. */
type RpcStream = (id: RpcId) => AsyncGenerator<SseFrame | readonly SseFrame[]>;
type RpcAnswer = object | RpcStream;

/**
 * The JSON-RPC bindings of A2A 1.0 and 0.3 at one URL, to be mounted at the agent's root. Every
 * error is a JSON-RPC response with HTTP status 200, except failures of HTTP itself (401, 403, 413)
 * and overload that must stop intermediaries from sending more (503).
 */
export function rpcApp(given: JsonRpcDeps): Hono {
  const deps = { ...given, transport: new JsonRpcTransportHandler(given.handler) };
  const app = new Hono({ strict: false });
  app.onError((error) => rpcFailure(error, deps.report));
  // One handler instead of three: each layer of Hono costs every message a few promises.
  app.post("/", async (c) => {
    requireJson(c);
    // Of a stranger no body is taken in.
    const caller = await deps.identify(c.req.raw);
    return answerRpc(deps, c.req.raw, new Uint8Array(await bodyOf(c)), caller);
  });
  return app;
}

async function answerRpc(deps: Deps, request: Request, body: Uint8Array, caller: Caller): Promise<Response> {
  let rpc: RpcRequest | undefined;
  let id: RpcId | undefined;
  try {
    const value = readJson(body);
    id = idOf(value, body);
    rpc = readEnvelope(value);
    const version = requestedVersion(request, rpc.method);
    const call = httpCall(request, caller, version);
    const answer = await dispatch(deps, rpc, version, call);
    if (id === undefined) return await notified(call, answer);
    return typeof answer === "function"
      ? await streamed(deps, answer(id), id, call)
      : answered({ ...detailed(answer, version, call), id }, notedFailure(call.context), call.headers());
  } catch (error) {
    const failure = rpcFailure(error, deps.report, id);
    return rpc?.method === "tasks/resubscribe" && failure.ok ? asStream(failure) : failure;
  }
}

/**
 * The answer of 1.0 with all of its error's details: the SDK's transport leaves out the wrong
 * fields.
 */
function detailed(answer: object, version: ProtocolVersion, { context }: HttpCall): object {
  const failure = version === "1.0" ? notedFailure(context) : undefined;
  return failure === undefined ? answer : { ...answer, error: rpcError(failure) };
}

function rpcFailure(error: unknown, report: (bug: unknown) => void, id: RpcId = null): Response {
  const failure = toA2AError(error, report);
  return answered({ jsonrpc: "2.0", id, error: rpcError(failure) }, failure);
}

function answered(answer: object, failure: A2AError | undefined, headers: Record<string, string> = {}): Response {
  const status =
    failure instanceof AppFailure && [401, 403, 413, 429, 503].includes(failure.status) ? failure.status : 200;
  const more = status === 503 ? { "Retry-After": "5" } : challengeOf(failure);
  return Response.json(answer, { status, headers: { ...headers, ...more } });
}

function readJson(body: Uint8Array): unknown {
  try {
    return parseJsonBytes(body);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw envelopeError(error.fault === "syntax" ? -32700 : -32600, error.message);
  }
}

/** The id of a request, valid or not, to be answered exactly as it was written. */
function idOf(value: unknown, body: Uint8Array): RpcId | undefined {
  const { id } = typeof value === "object" && value !== null ? (value as { id?: unknown }) : {};
  if (typeof id === "string" || id === null) return id;
  if (typeof id !== "number") return undefined;
  const written = Number.isSafeInteger(id) ? undefined : numberText(body, "id");
  return written === undefined ? id : rawJSON(written);
}

function readEnvelope(value: unknown): RpcRequest {
  if (Array.isArray(value)) throw envelopeError(-32600, "Batches are not supported: send one request at a time");
  const parsed = envelope.safeParse(value);
  if (parsed.success) return parsed.data;
  throw envelopeError(-32600, "The body is not a JSON-RPC 2.0 request");
}

async function dispatch(deps: Deps, rpc: RpcRequest, version: ProtocolVersion, call: HttpCall): Promise<RpcAnswer> {
  const schemas: Readonly<Record<string, z.ZodType>> = version === "1.0" ? requestSchemas : legacySchemas;
  const schema = Object.hasOwn(schemas, rpc.method) ? schemas[rpc.method] : undefined;
  if (schema === undefined) {
    throw envelopeError(-32601, `A2A ${version} has no method ${rpc.method.slice(0, 100)}`);
  }
  const params = checked(schema, rpc.params ?? {});
  const clean = { jsonrpc: "2.0", id: null, method: rpc.method, params };
  if (version === "0.3") {
    const answer = await new LegacyJsonRpcTransportHandler(deps.handler).handle(clean, call.context);
    return Symbol.asyncIterator in answer ? (id) => legacyFrames(answer, id) : answer;
  }
  const { batches } = deps.handler;
  // The SDK's transport takes a stream's updates one by one only.
  if (rpc.method === "SendStreamingMessage")
    return (id) => frames(batches.sendMessageStream(SendMessageRequest.fromJSON(params), call.context), id);
  if (rpc.method === "SubscribeToTask")
    return (id) => frames(batches.resubscribe(SubscribeToTaskRequest.fromJSON(params), call.context), id);
  const answer = await deps.transport.handle(clean, call.context);
  return rpc.method === "ListTaskPushNotificationConfigs" && "result" in answer ? withConfigs(answer) : answer;
}

/** The codec omits an empty list, which the specification requires. */
function withConfigs(answer: { readonly result?: unknown }): object {
  return { ...answer, result: { configs: [], ...(answer.result as object) } };
}

async function streamed(deps: Deps, frames: ReturnType<RpcStream>, id: RpcId, call: HttpCall): Promise<Response> {
  const { heartbeatMs, report } = deps;
  const response = await sseResponse(frames, {
    heartbeatMs,
    release: call.release,
    headers: call.headers(),
    failure: (error) => ({ data: { jsonrpc: "2.0", id, error: rpcError(toA2AError(error, report)) } }),
  });
  return untilRevoked(response, callFacts(call.context).isStillValid);
}

async function* frames(batches: TaskBatches, id: RpcId): AsyncGenerator<readonly SseFrame[]> {
  for await (const batch of batches) {
    yield batch.map((update) => ({
      data: { jsonrpc: "2.0", id, result: StreamResponse.toJSON(update) },
      id: seqOf(update),
    }));
  }
}

async function* legacyFrames(answers: AsyncGenerator<{ result?: unknown }>, id: RpcId): AsyncGenerator<SseFrame> {
  for await (const answer of answers)
    yield { data: { ...answer, id, result: endLegacyTurn(answer.result) }, id: legacySeqOf(answer.result) };
}

/** A request without an id gets no answer; it has been executed, a stream as far as its start. */
async function notified(call: HttpCall, answer: RpcAnswer): Promise<Response> {
  // A stream does nothing until it is read.
  if (typeof answer === "function") for await (const _ of answer(null)) break;
  call.release();
  return new Response(null, { status: 204 });
}

/** Clients of 0.3 read the error of `tasks/resubscribe` from a stream. */
async function asStream(failure: Response): Promise<Response> {
  const text = `data: ${await failure.text()}\n\n`;
  return new Response(text, { headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" } });
}
