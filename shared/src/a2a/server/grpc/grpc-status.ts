import type { A2AError } from "@a2a-js/sdk/errors";
import { encodeGrpcStatusDetails, GRPC_STATUS_DETAILS_BIN, grpcStatusFor } from "@a2a-js/sdk/errors/grpc";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { Metadata, type StatusObject, status } from "@grpc/grpc-js";
import { challengeOf } from "../../../http/challenge.ts";
import { AppFailure, FieldViolationsError } from "../../wire-error.ts";

/**
 * The status of a failed call (A2A 1.0 section 10.6): the code of its error, with ErrorInfo, and
 * with BadRequest for invalid fields.
 */
export function failureStatus(error: A2AError): StatusObject {
  const code = codeOf(error);
  const { reason, metadata: about } = error.toErrorInfo();
  const metadata = new Metadata();
  const details = [encodeGrpcStatusDetails(code, error.message, reason, about), badRequest(error)];
  metadata.set(GRPC_STATUS_DETAILS_BIN, Buffer.concat(details));
  if (code === status.UNAVAILABLE) metadata.set("retry-after", "5");
  const { "Retry-After": later } = challengeOf(error);
  if (later !== undefined) metadata.set("retry-after", later);
  return { code, details: error.message, metadata };
}

function codeOf(error: A2AError): status {
  if (!(error instanceof AppFailure)) return grpcStatusFor(error);
  return codes[error.status] ?? status.INTERNAL;
}

const codes: Readonly<Record<number, status>> = {
  400: status.INVALID_ARGUMENT,
  401: status.UNAUTHENTICATED,
  403: status.PERMISSION_DENIED,
  404: status.NOT_FOUND,
  409: status.ABORTED,
  413: status.RESOURCE_EXHAUSTED,
  415: status.UNIMPLEMENTED,
  429: status.RESOURCE_EXHAUSTED,
  503: status.UNAVAILABLE,
  504: status.DEADLINE_EXCEEDED,
};

/**
 * One more of the repeated `details` of a `google.rpc.Status`, to be appended to an encoded one.
 * The SDK encodes only ErrorInfo.
 */
function badRequest(error: A2AError): Uint8Array {
  const writer = new BinaryWriter();
  if (!(error instanceof FieldViolationsError)) return writer.finish();
  writer.uint32(lengthDelimited(3)).fork();
  writer.uint32(lengthDelimited(1)).string("type.googleapis.com/google.rpc.BadRequest");
  writer.uint32(lengthDelimited(2)).fork();
  for (const { field, description } of error.violations) {
    writer.uint32(lengthDelimited(1)).fork();
    writer.uint32(lengthDelimited(1)).string(field).uint32(lengthDelimited(2)).string(description);
    writer.join();
  }
  return writer.join().join().finish();
}

/** The tag of a protobuf field that is a text, bytes or a message. */
function lengthDelimited(field: number): number {
  return (field << 3) | 2;
}
