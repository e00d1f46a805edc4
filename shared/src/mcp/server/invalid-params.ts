import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { AppError, errorCodes, publicError } from "../../core/errors.ts";

/**
 * What the protocol has a client told as an error of its own, not as a result that a model reads.
 */
export function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** Does work; what went wrong is an error of the protocol, a bug without its text. */
export async function inProtocolWords<Value>(
  work: () => Promise<Value>,
  report: (bug: unknown) => void,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    if (!(error instanceof AppError)) report(error);
    const { code, message } = publicError(error);
    const isTheirs = errorCodes[code].status < 500;
    const { InvalidParams, InternalError } = ProtocolErrorCode;
    throw new ProtocolError(isTheirs ? InvalidParams : InternalError, `${message} (${code})`);
  }
}
