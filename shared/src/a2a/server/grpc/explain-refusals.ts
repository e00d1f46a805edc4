import { GRPC_STATUS_DETAILS_BIN } from "@a2a-js/sdk/errors/grpc";
import { ServerInterceptingCall, type ServerInterceptor, status } from "@grpc/grpc-js";
import { AppError, type ErrorCode } from "../../../core/errors.ts";
import { AppFailure } from "../../wire-error.ts";
import { failureStatus } from "./grpc-status.ts";

type PartialStatus = Parameters<Parameters<ServerInterceptor>[1]["sendStatus"]>[0];

/**
 * Gives what the library refuses by itself (a message that is too large or cannot be unpacked, an
 * expired deadline) the ErrorInfo of other failures. It sends such a status past all interceptors,
 * by the call's own `sendStatus`. It refuses unknown methods before there is a call.
 */
export const explainRefusals: ServerInterceptor = (_, call) => {
  const send = call.sendStatus.bind(call);
  call.sendStatus = (sent) => send(explained(sent));
  return new ServerInterceptingCall(call);
};

function explained(sent: PartialStatus): PartialStatus {
  const code = codeOf(sent);
  if (code === undefined || (sent.metadata?.get(GRPC_STATUS_DETAILS_BIN).length ?? 0) > 0) return sent;
  const message = code === "too_large" ? "A request may have at most 10 MB" : sent.details;
  return failureStatus(new AppFailure(new AppError(code, message ?? "The call failed.")));
}

const codes: Readonly<Record<number, ErrorCode>> = {
  [status.RESOURCE_EXHAUSTED]: "too_large",
  [status.UNIMPLEMENTED]: "unsupported",
  [status.DEADLINE_EXCEEDED]: "timeout",
  [status.INTERNAL]: "internal",
};

function codeOf({ code, details }: PartialStatus): ErrorCode | undefined {
  if (/^(?:Failed to decompress|Invalid grpc-timeout)/.test(details ?? "")) return "invalid_input";
  return code === undefined ? undefined : codes[code];
}
