import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { AppError } from "../../../core/errors.ts";
import { ownCommand } from "../../../core/release.ts";
import { sanitizeLine } from "../../../core/text/sanitize.ts";

/**
 * A server's failure as an AppError that models and people can read; the server's own text is
 * sanitized and cut. `ending` is why its connection ended, if known.
 */
export function serverFailure(name: string, error: unknown, ending: string | undefined): AppError {
  const told = (code: "unavailable" | "timeout" | "unauthorized", what: string) =>
    new AppError(code, `The MCP server ${name}: ${what}`, { cause: error });
  if (error instanceof AppError && ending === undefined) return told(codeOf(error), error.message);
  if (error instanceof UnauthorizedError || (error instanceof SdkHttpError && error.status === 401))
    return told("unauthorized", `it wants you to sign in: \`${ownCommand} mcp login ${name}\`.`);
  if (error instanceof InsufficientScopeError)
    return told(
      "unauthorized",
      `it wants you to sign in for more (${sanitizeLine(error.requiredScope ?? "no scope named", 200)}): \`${ownCommand} mcp login ${name}\`.`,
    );
  if (error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed && ending === undefined)
    return told(
      "unavailable",
      `it cannot be reached: ${line(error).replace(/^Version negotiation probe failed: /, "")}.`,
    );
  if (error instanceof ProtocolError) return told("unavailable", `it answered with an error: ${line(error)}`);
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return told("timeout", "it did not answer in time.");
  return told("unavailable", ending === undefined ? line(error) : `${ending}.`);
}

function codeOf({ code }: AppError): "unavailable" | "timeout" | "unauthorized" {
  return code === "timeout" || code === "unauthorized" ? code : "unavailable";
}

function line(error: unknown): string {
  return sanitizeLine(error instanceof Error ? error.message : String(error), 1_000);
}
