import { A2A_ERROR_CODE, A2AError, isJsonRpcError } from "@a2a-js/sdk/errors";
import { AppError, type ErrorCode, errorCodes } from "../../core/errors.ts";

const codes: Readonly<Record<string, ErrorCode>> = {
  TaskNotFoundError: "not_found",
  TaskNotCancelableError: "run_ended",
  UnsupportedOperationError: "unsupported",
  PushNotificationNotSupportedError: "unsupported",
  ContentTypeNotSupportedError: "unsupported",
  ExtensionSupportRequiredError: "unsupported",
  VersionNotSupportedError: "unsupported",
  ExtendedAgentCardNotConfiguredError: "unsupported",
  RequestMalformedError: "invalid_input",
};

/**
 * A failed call to another agent as an AppError: with the code that an agent of this system names,
 * the nearest code for an A2A error, and `unavailable` for anything else, which names the `agent`.
 */
export function callError(error: unknown, agent = "The agent"): AppError {
  if (error instanceof AppError) return error;
  const found =
    error instanceof Error && !(error instanceof A2AError) && error.cause !== undefined ? error.cause : error;
  if (found instanceof AppError) return found;
  if (found instanceof A2AError) {
    // The SDK takes an unknown method for a malformed request.
    const code = namedCode(found) ?? (isUnknownMethod(found) ? "unsupported" : codes[found.name]) ?? "unavailable";
    return new AppError(code, found.message, { cause: error });
  }
  return new AppError("unavailable", `${agent} could not be reached or did not answer in A2A`, { cause: error });
}

function isUnknownMethod(error: A2AError): boolean {
  return isJsonRpcError(error) && error.envelopeCode === A2A_ERROR_CODE.METHOD_NOT_FOUND;
}

/** The code in the ErrorInfo of an agent of this system. */
function namedCode(error: A2AError): ErrorCode | undefined {
  const details: unknown = isJsonRpcError(error) ? error.data : [{ metadata: error.metadata }];
  if (!Array.isArray(details)) return undefined;
  for (const detail of details) {
    const code: unknown = detail?.metadata?.code;
    if (typeof code === "string" && Object.hasOwn(errorCodes, code)) return code as ErrorCode;
  }
  return undefined;
}
