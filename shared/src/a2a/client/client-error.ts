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
 * What went wrong in a call to another agent, as an AppError: the code an agent of ours names, the
 * nearest one for an A2A error, and `unavailable` for anything that is no A2A answer at all.
 */
export function callError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const found =
    error instanceof Error && !(error instanceof A2AError) && error.cause !== undefined ? error.cause : error;
  if (found instanceof AppError) return found;
  if (found instanceof A2AError) {
    const code = namedCode(found) ?? codes[found.name] ?? (isUnknownMethod(found) ? "unsupported" : "unavailable");
    return new AppError(code, found.message, { cause: error });
  }
  return new AppError("unavailable", "The agent could not be reached or did not answer in A2A", { cause: error });
}

function isUnknownMethod(error: A2AError): boolean {
  return isJsonRpcError(error) && error.envelopeCode === A2A_ERROR_CODE.METHOD_NOT_FOUND;
}

/** The code in the ErrorInfo of an agent of ours. */
function namedCode(error: A2AError): ErrorCode | undefined {
  const details: unknown = isJsonRpcError(error) ? error.data : [{ metadata: error.metadata }];
  if (!Array.isArray(details)) return undefined;
  for (const detail of details) {
    const code: unknown = detail?.metadata?.code;
    if (typeof code === "string" && Object.hasOwn(errorCodes, code)) return code as ErrorCode;
  }
  return undefined;
}
