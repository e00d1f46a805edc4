import type { StreamResponse } from "@a2a-js/sdk";
import { decodeErrorInfo, decodeStatus, GRPC_STATUS_DETAILS_BIN } from "@a2a-js/sdk/errors/grpc";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import {
  type CallOptions,
  type ChannelCredentials,
  Client,
  type ClientReadableStream,
  credentials,
  Metadata,
  type ServiceError,
} from "@grpc/grpc-js";
import type { Wire } from "./rpc.ts";

/** How a gRPC call failed. */
export type GrpcFailure = {
  readonly code: number;
  readonly message: string;
  readonly reason: string | undefined;
  /** The types of the status's details. */
  readonly details: readonly string[];
  /** The seconds after which it may be tried again, if it says. */
  readonly retryAfter: string | undefined;
};

/** A raw gRPC client of one server: it sends what it is given, checked by nobody. */
export type GrpcClient = Disposable & {
  call(method: keyof typeof A2AService, request: object, options?: GrpcCallOptions): Promise<Wire>;
  stream(
    method: keyof typeof A2AService,
    request: object,
    options?: GrpcCallOptions,
  ): ClientReadableStream<StreamResponse>;
  /** Calls with any bytes for a request. */
  send(method: keyof typeof A2AService, bytes: Uint8Array): Promise<unknown>;
};

export type GrpcCallOptions = CallOptions & { readonly metadata?: Readonly<Record<string, string>> };

/** Opens one; its calls are of A2A 1.0 unless their metadata say otherwise. */
export function grpcClient(
  address: string,
  {
    secured = credentials.createInsecure(),
    name,
  }: { readonly secured?: ChannelCredentials; readonly name?: string } = {},
): GrpcClient {
  const client = new Client(address, secured, {
    "grpc.max_receive_message_length": -1,
    // The name that the server's certificate is for.
    ...(name !== undefined && { "grpc.ssl_target_name_override": name }),
  });
  const unary = (
    path: string,
    encode: (value: never) => Buffer,
    decode: (bytes: Buffer) => unknown,
    request: object,
    { metadata, ...options }: GrpcCallOptions,
  ) =>
    new Promise<unknown>((resolve, reject) => {
      const done = (error: ServiceError | null, answer: unknown) => (error === null ? resolve(answer) : reject(error));
      client.makeUnaryRequest(
        path,
        encode as (value: object) => Buffer,
        decode,
        request,
        metadataOf(metadata),
        options,
        done,
      );
    });
  return {
    call(method, request, options = {}) {
      const { path, requestSerialize, responseDeserialize } = A2AService[method];
      return unary(path, requestSerialize as never, responseDeserialize, request, options);
    },
    stream(method, request, { metadata, ...options } = {}) {
      const { path, requestSerialize, responseDeserialize } = A2AService[method];
      const encode = requestSerialize as (value: object) => Buffer;
      const decode = responseDeserialize as (bytes: Buffer) => StreamResponse;
      return client.makeServerStreamRequest(path, encode, decode, request, metadataOf(metadata), options);
    },
    send: (method, bytes) =>
      unary(A2AService[method].path, ((value: Buffer) => value) as never, (answer) => answer, Buffer.from(bytes), {}),
    [Symbol.dispose]: () => client.close(),
  };
}

function metadataOf(values: Readonly<Record<string, string>> = {}): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries({ "a2a-version": "1.0", ...values }))
    if (value !== "") metadata.set(name, value);
  return metadata;
}

/** The failure of a call that is expected to fail. */
export async function failureOf(call: Promise<unknown>): Promise<GrpcFailure> {
  const error = await call.then(
    () => undefined,
    (failure: ServiceError) => failure,
  );
  if (error === undefined) throw new Error("The call did not fail");
  const bytes = error.metadata?.get(GRPC_STATUS_DETAILS_BIN)[0];
  const details = bytes === undefined ? [] : decodeStatus(bytes as Buffer).details;
  const info = details.find(({ typeUrl }) => typeUrl.endsWith("google.rpc.ErrorInfo"));
  return {
    code: error.code,
    message: error.details,
    reason: info && decodeErrorInfo(info.value).reason,
    details: details.map(({ typeUrl }) => typeUrl.split("/").at(-1) ?? ""),
    retryAfter: error.metadata?.get("retry-after")[0]?.toString(),
  };
}

/** A SendMessageRequest with a text. */
export function grpcMessage(text: string, over: object = {}, configuration?: object): Wire {
  return {
    tenant: "",
    message: {
      messageId: crypto.randomUUID(),
      taskId: "",
      contextId: "",
      role: 1,
      parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...over,
    },
    configuration: configuration && { acceptedOutputModes: [], returnImmediately: false, ...configuration },
    metadata: undefined,
  };
}
