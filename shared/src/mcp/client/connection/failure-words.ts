import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import * as z from "zod";
import { AppError, messageOf } from "../../../core/errors.ts";
import { jsonOf } from "../../../core/json.ts";
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
    return told("unavailable", `it cannot be reached: ${whatHappened(error)}.`);
  if (error instanceof ProtocolError) return told("unavailable", `it answered with an error: ${line(error)}`);
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return told("timeout", "it did not answer in time.");
  if (ending !== undefined) return told("unavailable", `${ending}.`);
  return told("unavailable", statusOf(error) ?? misfitOf(error) ?? line(error));
}

/** The first sentence of a failure: what follows is advice about the program that asked. */
function whatHappened(error: SdkError): string {
  const [sentence = ""] = line(error)
    .replace(/^Version negotiation probe failed: /, "")
    .split(/\.(?:\s|$)/);
  return sentence;
}

/** What a server answered that is no success; undefined for other failures. */
function statusOf(error: unknown): string | undefined {
  if (!(error instanceof SdkHttpError) || error.status === undefined || error.status < 300) return undefined;
  const said = line(error).replace(/^Error POSTing to endpoint:\s*/, "");
  return `it answered with HTTP ${error.status}${said === "" ? "." : `: ${said}`}`;
}

const issuesSchema = z
  .array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }))
  .min(1);
const shownIssues = 3;

/**
 * Where a result does not have its form, in place of the library's JSON; undefined for other
 * failures.
 */
function misfitOf(error: unknown): string | undefined {
  if (!(error instanceof SdkError) || error.code !== SdkErrorCode.InvalidResult) return undefined;
  const [, method = "", text = ""] = /^Invalid result for (\S+): (\[.*)$/s.exec(error.message) ?? [];
  const issues = issuesSchema.safeParse(jsonOf(text));
  if (!issues.success) return undefined;
  const places = issues.data
    .slice(0, shownIssues)
    .map(({ path, message }) => sanitizeLine(path.length === 0 ? message : `${path.join(".")}: ${message}`, 200));
  const more = issues.data.length > shownIssues ? "; …" : "";
  return `its answer to ${sanitizeLine(method)} does not have the form that MCP prescribes (${places.join("; ")}${more}).`;
}

function codeOf({ code }: AppError): "unavailable" | "timeout" | "unauthorized" {
  return code === "timeout" || code === "unauthorized" ? code : "unavailable";
}

function line(error: unknown): string {
  return sanitizeLine(messageOf(error), 1_000);
}
