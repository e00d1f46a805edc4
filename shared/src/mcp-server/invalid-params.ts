import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { AppError, publicError } from "../errors.ts";

/** What the protocol has a client told as an error of its own, not as a result that a model reads. */
export function invalidParams(message: string, data?: unknown): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, data);
}

/** Does work whose expected failure is the client's error too. A bug is reported, and the client told that there is one. */
export async function inProtocolWords<Value>(
  work: () => Promise<Value>,
  report: (bug: unknown) => void,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    if (error instanceof AppError) throw invalidParams(error.message);
    report(error);
    throw new ProtocolError(ProtocolErrorCode.InternalError, publicError(error).message);
  }
}
