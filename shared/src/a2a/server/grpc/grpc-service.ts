import {
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetExtendedAgentCardRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTasksRequest,
  SendMessageRequest,
  type SendMessageResponse,
  type StreamResponse,
  SubscribeToTaskRequest,
  TaskPushNotificationConfig,
} from "@a2a-js/sdk";
import type { A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import {
  type handleUnaryCall,
  Metadata,
  type ServerWritableStream,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { Identify } from "../../../core/caller.ts";
import { AppError } from "../../../core/errors.ts";
import { isTooDeep } from "../../../core/json.ts";
import { createTurns } from "../../../http/turns.ts";
import { watchValidity } from "../../../http/until-revoked.ts";
import { AppFailure, FieldViolationsError, toA2AError } from "../../wire-error.ts";
import { callFacts, type HttpCall } from "../call-context.ts";
import { checked, requestSchemas } from "../request-schema.ts";
import { beginCall, type GrpcCall } from "./grpc-call.ts";
import { failureStatus } from "./grpc-status.ts";

/** What the gRPC binding needs. */
export type GrpcServiceDeps = {
  /**
   * The handler of a tenant's requests; an empty tenant is the default. Throws for an unknown one.
   */
  readonly handlerOf: (tenant: string) => A2ARequestHandler;
  readonly identify: Identify;
  /** Throws an AppError for a connection that is not answered. */
  readonly admit: (call: GrpcCall) => void;
  readonly report: (bug: unknown) => void;
};

/**
 * The service's definition, which leaves a request's bytes as they are: they are decoded when the
 * caller is known, and anything but a message is the caller's fault.
 */
export const serviceDefinition: ServiceDefinition = Object.fromEntries(
  Object.entries(A2AService).map(([name, method]) => [
    name,
    { ...method, requestDeserialize: (bytes: Buffer): Uint8Array => bytes },
  ]),
);

/**
 * The gRPC binding of A2A 1.0 (section 10). A request passes the same checks as over the other
 * bindings: in ProtoJSON, after it is decoded.
 */
export function grpcService(given: GrpcServiceDeps): UntypedServiceImplementation {
  const deps = { ...given, turn: createTurns() };
  const unary = <Asked>(method: Method<Asked>, work: Work<Asked, Promise<unknown>>) => unaryCall(deps, method, work);
  const streaming = <Asked>(method: Method<Asked>, work: Work<Asked, Updates>) => streamingCall(deps, method, work);
  return {
    sendMessage: unary(methods.SendMessage, async (handler, asked, context) =>
      answered(await handler.sendMessage(asked, context)),
    ),
    sendStreamingMessage: streaming(methods.SendStreamingMessage, (handler, asked, context) =>
      handler.sendMessageStream(asked, context),
    ),
    getTask: unary(methods.GetTask, (handler, asked, context) => handler.getTask(asked, context)),
    listTasks: unary(methods.ListTasks, (handler, asked, context) => handler.listTasks(asked, context)),
    cancelTask: unary(methods.CancelTask, (handler, asked, context) => handler.cancelTask(asked, context)),
    subscribeToTask: streaming(methods.SubscribeToTask, (handler, asked, context) =>
      handler.resubscribe(asked, context),
    ),
    createTaskPushNotificationConfig: unary(methods.CreateTaskPushNotificationConfig, (handler, asked, context) =>
      handler.createTaskPushNotificationConfig(asked, context),
    ),
    getTaskPushNotificationConfig: unary(methods.GetTaskPushNotificationConfig, (handler, asked, context) =>
      handler.getTaskPushNotificationConfig(asked, context),
    ),
    listTaskPushNotificationConfigs: unary(methods.ListTaskPushNotificationConfigs, (handler, asked, context) =>
      handler.listTaskPushNotificationConfigs(asked, context),
    ),
    deleteTaskPushNotificationConfig: unary(
      methods.DeleteTaskPushNotificationConfig,
      async (handler, asked, context) => {
        await handler.deleteTaskPushNotificationConfig(asked, context);
        return {};
      },
    ),
    getExtendedAgentCard: unary(methods.GetExtendedAgentCard, (handler, asked, context) =>
      handler.getAuthenticatedExtendedAgentCard(asked, context),
    ),
  };
}

type Updates = AsyncGenerator<StreamResponse, void, undefined>;
type Work<Asked, Answer> = (handler: A2ARequestHandler, asked: Asked, context: ServerCallContext) => Answer;

/** A method: how its requests are decoded, and their checked form in ProtoJSON. */
type Method<Asked> = {
  readonly decode: (bytes: Buffer) => Asked & { readonly tenant: string };
  readonly toJSON: (asked: Asked) => unknown;
  readonly fromJSON: (value: unknown) => Asked;
  readonly check: (value: unknown) => unknown;
};

function method<Name extends keyof typeof requestSchemas, Asked>(
  name: Name,
  decode: (bytes: Buffer) => Asked & { readonly tenant: string },
  codec: { toJSON(asked: Asked): unknown; fromJSON(value: unknown): Asked },
): Method<Asked> {
  return { decode, ...codec, check: (value) => checked(requestSchemas[name], value) };
}

const methods = {
  SendMessage: method("SendMessage", A2AService.sendMessage.requestDeserialize, SendMessageRequest),
  SendStreamingMessage: method(
    "SendStreamingMessage",
    A2AService.sendStreamingMessage.requestDeserialize,
    SendMessageRequest,
  ),
  GetTask: method("GetTask", A2AService.getTask.requestDeserialize, GetTaskRequest),
  ListTasks: method("ListTasks", A2AService.listTasks.requestDeserialize, ListTasksRequest),
  CancelTask: method("CancelTask", A2AService.cancelTask.requestDeserialize, CancelTaskRequest),
  SubscribeToTask: method("SubscribeToTask", A2AService.subscribeToTask.requestDeserialize, SubscribeToTaskRequest),
  CreateTaskPushNotificationConfig: method(
    "CreateTaskPushNotificationConfig",
    A2AService.createTaskPushNotificationConfig.requestDeserialize,
    TaskPushNotificationConfig,
  ),
  GetTaskPushNotificationConfig: method(
    "GetTaskPushNotificationConfig",
    A2AService.getTaskPushNotificationConfig.requestDeserialize,
    GetTaskPushNotificationConfigRequest,
  ),
  ListTaskPushNotificationConfigs: method(
    "ListTaskPushNotificationConfigs",
    A2AService.listTaskPushNotificationConfigs.requestDeserialize,
    ListTaskPushNotificationConfigsRequest,
  ),
  DeleteTaskPushNotificationConfig: method(
    "DeleteTaskPushNotificationConfig",
    A2AService.deleteTaskPushNotificationConfig.requestDeserialize,
    DeleteTaskPushNotificationConfigRequest,
  ),
  GetExtendedAgentCard: method(
    "GetExtendedAgentCard",
    A2AService.getExtendedAgentCard.requestDeserialize,
    GetExtendedAgentCardRequest,
  ),
};

/** With `turn`, which a call waits for before anything is done for it. */
type CallDeps = GrpcServiceDeps & { readonly turn: () => Promise<void> | undefined };

function unaryCall<Asked>(
  deps: CallDeps,
  method: Method<Asked>,
  work: Work<Asked, Promise<unknown>>,
): handleUnaryCall<Uint8Array, unknown> {
  return async (call, respond) => {
    try {
      const { handler, asked, begun } = await opened(deps, method, call);
      const answer = await work(handler, asked, begun.context);
      call.sendMetadata(answerMetadata(begun));
      respond(null, answer);
    } catch (error) {
      respond(failureStatus(toA2AError(error, deps.report)));
    }
  };
}

function streamingCall<Asked>(deps: CallDeps, method: Method<Asked>, work: Work<Asked, Updates>) {
  return async (call: ServerWritableStream<Uint8Array, unknown>): Promise<void> => {
    let stopWatching: (() => void) | undefined;
    try {
      const { handler, asked, begun } = await opened(deps, method, call);
      const { isStillValid, signal } = callFacts(begun.context);
      if (isStillValid) stopWatching = watchValidity(isStillValid, begun.release);
      call.sendMetadata(answerMetadata(begun));
      for await (const update of work(handler, asked, begun.context)) {
        // Updates are pulled only as the reader takes them, so a slow reader holds only a few.
        if (!call.write(update)) await writable(call);
        if (call.cancelled) break;
      }
      if (signal.aborted && !call.cancelled)
        throw new AppFailure(new AppError("unauthorized", "The token of this call was revoked or has expired."));
      call.end();
    } catch (error) {
      call.emit("error", failureStatus(toA2AError(error, deps.report)));
    } finally {
      stopWatching?.();
    }
  };
}

async function opened<Asked>(deps: CallDeps, method: Method<Asked>, call: GrpcCall) {
  await deps.turn();
  deps.admit(call);
  const begun = await beginCall(call, deps.identify);
  const decoded = decodedBy(method, call.request);
  const handler = handlerFor(deps, decoded.tenant);
  return { handler, begun, asked: validated(method, decoded) };
}

/** An unknown tenant is not an unknown task. */
function handlerFor(deps: GrpcServiceDeps, tenant: string): A2ARequestHandler {
  try {
    return deps.handlerOf(tenant);
  } catch (error) {
    throw error instanceof AppError ? new AppFailure(error) : error;
  }
}

function decodedBy<Asked>({ decode }: Method<Asked>, bytes: Uint8Array) {
  try {
    return decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (error) {
    throw malformed(unreadable(error));
  }
}

/** Why bytes are no request, as far as what decodes them says it. */
function unreadable(error: unknown): string {
  const said = error instanceof Error ? error.message : "";
  if (said === "Invalid Date") return "has a time that is out of range";
  if (said.includes("MAX_SAFE_INTEGER")) return "has a number that is out of range";
  return error instanceof RangeError ? "is cut off, or nested too deep" : "is not this method's message";
}

/**
 * The request with what its schema knows, as over the other bindings. Throws FieldViolationsError.
 */
function validated<Asked>({ toJSON, fromJSON, check }: Method<Asked>, decoded: Asked): Asked {
  const value = toJSON(decoded);
  if (isTooDeep(value)) throw malformed("is nested too deep");
  return fromJSON(check(value));
}

function malformed(description: string): FieldViolationsError {
  return new FieldViolationsError([{ field: "request", description }]);
}

function answered(sent: Awaited<ReturnType<A2ARequestHandler["sendMessage"]>>): SendMessageResponse {
  return { payload: "messageId" in sent ? { $case: "message", value: sent } : { $case: "task", value: sent } };
}

function answerMetadata(call: HttpCall): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(call.headers())) metadata.set(name, value);
  return metadata;
}

/** Resolves when the stream takes more, or never will. */
function writable(call: ServerWritableStream<Uint8Array, unknown>): Promise<void> {
  if (call.cancelled) return Promise.resolve();
  return new Promise((resolve) => {
    const events = ["drain", "cancelled", "close", "error"];
    const done = () => {
      for (const event of events) call.off(event, done);
      resolve();
    };
    for (const event of events) call.on(event, done);
  });
}
