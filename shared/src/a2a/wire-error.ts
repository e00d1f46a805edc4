import {
  A2AError,
  type ErrorDetail,
  isJsonRpcError,
  JsonRpcRequestMalformedError,
  RequestMalformedError,
  restStatusFor,
  TaskNotFoundError,
  toJsonRpcError,
  toRestErrorBody,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import { AppError, type ErrorCode, publicError } from "../core/errors.ts";
import { QuotaError } from "../core/runs/quota.ts";

/** One field of a request and what is wrong with it. */
export type FieldViolation = { readonly field: string; readonly description: string };

/** A request with invalid fields: −32602 or 400, with a BadRequest that lists them. */
export class FieldViolationsError extends RequestMalformedError {
  readonly violations: readonly FieldViolation[];

  constructor(violations: readonly FieldViolation[]) {
    super(
      violations
        .map(({ field, description }) => `${field}: ${description}`)
        .join("; ")
        .slice(0, 1000),
    );
    this.name = "RequestMalformedError";
    this.violations = violations;
  }
}

/**
 * An AppError without an A2A equivalent: −32603 over JSON-RPC, the status from our table over HTTP,
 * its code in ErrorInfo.
 */
export class AppFailure extends A2AError {
  override readonly reason: string;
  readonly code: ErrorCode;
  readonly status: number;

  constructor(error: AppError) {
    const when = error instanceof QuotaError ? { retryAfter: String(error.retryAfter) } : {};
    const metadata = { code: error.code, retryable: String(error.retryable), ...when };
    super({ message: error.message, cause: error, metadata });
    this.name = "AppFailure";
    this.reason = error.code.toUpperCase();
    this.code = error.code;
    this.status = error.status;
  }
}

/** A JSON-RPC error in the envelope: −32700, −32600 or −32601. */
export function envelopeError(envelopeCode: -32700 | -32600 | -32601, message: string): A2AError {
  return new JsonRpcRequestMalformedError({ message, envelopeCode });
}

/**
 * Converts a thrown value to an A2A error. Unexpected errors go to `report` with their cause; the
 * client learns only that an internal error occurred.
 */
export function toA2AError(error: unknown, report: (bug: unknown) => void): A2AError {
  if (error instanceof A2AError) return error;
  if (!(error instanceof AppError)) {
    report(error);
    return new AppFailure(new AppError("internal", publicError(error).message));
  }
  if (error.code === "not_found") return new TaskNotFoundError(error.message);
  if (error.code === "run_ended") return hasEnded(error.message);
  if (error.field !== undefined) {
    const description = error.message.slice(error.field.length + 2);
    return new FieldViolationsError([{ field: `message.${error.field}`, description }]);
  }
  if (error.code === "conflict" || error.code === "invalid_input")
    return new RequestMalformedError({ message: error.message, metadata: { code: error.code } });
  return new AppFailure(error);
}

/**
 * What cannot be done because the task has ended. A2A's error for that stands for anything an agent
 * cannot do, so that its metadata says it.
 */
export function hasEnded(message: string): A2AError {
  return new UnsupportedOperationError({ message, metadata: { code: "run_ended" satisfies ErrorCode } });
}

/** The `error` member of a JSON-RPC response. */
export function rpcError(error: A2AError): { code: number; message: string; data?: ErrorDetail[] } {
  const body = toJsonRpcError(error);
  if (isJsonRpcError(error)) return { code: body.code, message: body.message };
  return { ...body, data: [...(body.data ?? []), ...badRequest(error)] };
}

/** Status and body of an HTTP+JSON error response (A2A 1.0 section 11.6). */
export function httpJsonError(error: A2AError): { status: number; body: ReturnType<typeof toRestErrorBody> } {
  const status = error instanceof AppFailure ? error.status : restStatusFor(error);
  const { error: body } = toRestErrorBody(error, status);
  const name = error instanceof AppFailure ? (statusNames[status] ?? "INTERNAL") : body.status;
  return { status, body: { error: { ...body, status: name, details: [...body.details, ...badRequest(error)] } } };
}

function badRequest(error: A2AError): ErrorDetail[] {
  if (!(error instanceof FieldViolationsError)) return [];
  return [{ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: error.violations }];
}

const statusNames: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ABORTED",
  413: "RESOURCE_EXHAUSTED",
  415: "UNIMPLEMENTED",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};
