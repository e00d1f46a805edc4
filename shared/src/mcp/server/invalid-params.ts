import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { AppError, errorCodes, publicError } from "../../core/errors.ts";

/**
 * An error of the protocol, for faults that the client handles instead of a model reading them in a
 * result.
 */
export function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** Runs work; failures become protocol errors, bugs without their text. */
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
