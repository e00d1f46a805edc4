import {
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetExtendedAgentCardRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTasksRequest,
  SendMessageRequest,
  SubscribeToTaskRequest,
  TaskPushNotificationConfig,
} from "@a2a-js/sdk";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import fc from "fast-check";
import { cut, cuts, edited, edits, oddValue } from "./edits.ts";
import { type Known, legacyParamsOf, type MethodName, paramsOf } from "./params.ts";

type Headers = Readonly<Record<string, string>>;

/** A request as it goes to the server. */
export type Sent =
  | {
      readonly over: "JSON-RPC" | "HTTP+JSON";
      readonly method: string;
      /** Below the server's address. */
      readonly path: string;
      readonly headers: Headers;
      readonly body?: Uint8Array<ArrayBuffer>;
    }
  | {
      readonly over: "gRPC";
      readonly path: string;
      readonly streams: boolean;
      readonly metadata: Headers;
      readonly bytes: Uint8Array;
    }
  | { readonly over: "socket"; readonly bytes: Uint8Array };

/** Any request over any binding, for a server that has these tasks. */
export function requests(known: Known): fc.Arbitrary<Sent> {
  return fc.oneof(
    { weight: 8, arbitrary: overJsonRpc(known) },
    { weight: 8, arbitrary: overHttp(known) },
    { weight: 8, arbitrary: overGrpc(known) },
    { weight: 1, arbitrary: overSocket(known) },
  );
}

const oddHeader = fc.oneof(
  header("A2A-Version", "1.0.1", "1", "2.0", "", "abc", "1.0, 0.3", "0.3.0", "9".repeat(500)),
  header("A2A-Extensions", "urn:manyhands:journal:1", "urn:manyhands:dedupe:1,urn:x", ",,,", "a b", "x,".repeat(300)),
  header("X-A2A-Extensions", "urn:manyhands:journal:1"),
  header(
    "Content-Type",
    "application/a2a+json",
    "application/json; charset=utf-16",
    "text/plain",
    "multipart/form-data",
    "/",
  ),
  header("Accept", "text/event-stream", "image/png", "*/*;q=x", ""),
  header("Accept-Encoding", "identity", "br;q=0, *;q=0"),
  header("Content-Encoding", "gzip", "x"),
  header("Last-Event-ID", "0", "1", "99", "-1", "1e9", "999999999999999", "99999999999999999999", "x"),
  header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-0-0-0", "x"),
  header("tracestate", "a=b", "=".repeat(600)),
  header("Authorization", "Bearer x", "Basic", "Bearer", "Bearer a.b.c"),
  header("Manyhands-Principal", "alice", "two words", "x".repeat(300)),
  header("If-None-Match", "*", '"x"'),
  header("Range", "bytes=9-1"),
  header("Expect", "nothing"),
);

function header(name: string, ...values: readonly string[]): fc.Arbitrary<[string, string]> {
  return fc.constantFrom(...values).map((value) => [name, value]);
}

/** Mostly the right version and type, and then some of the others. */
function headersWith(version: string): fc.Arbitrary<Headers> {
  const more = fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(oddHeader, { maxLength: 3 }));
  const right = { "A2A-Version": version, "Content-Type": "application/json" };
  return more.map((odd) => ({ ...right, ...Object.fromEntries(odd) }));
}

const encoder = new TextEncoder();

/** The bytes of a value that has been changed, changed again. */
function bodyOf(value: fc.Arbitrary<unknown>): fc.Arbitrary<Uint8Array<ArrayBuffer>> {
  return fc
    .tuple(value, edits, cuts)
    .map(([whole, changes, last]) => cut(encoder.encode(JSON.stringify(edited(whole, changes)) ?? ""), last));
}

function overJsonRpc(known: Known): fc.Arbitrary<Sent> {
  const id = fc.constantFrom<unknown>(1, "a", null, 2 ** 53, -1, 1.5, "", 0, undefined);
  const calls = (methods: Readonly<Record<string, fc.Arbitrary<object>>>, version: string) => {
    const names = Object.keys(methods);
    const strange = fc.constantFrom("sendMessage", "rpc.discover", "__proto__", "toString", "x".repeat(500));
    return fc.constantFrom(...names).chain((name) => {
      const method = fc.oneof({ weight: 12, arbitrary: fc.constant(name) }, strange);
      const params = methods[name] ?? fc.constant({});
      const body = bodyOf(fc.record({ jsonrpc: fc.constant("2.0"), id, method, params }));
      return fc.record({ headers: headersWith(version), body });
    });
  };
  return fc
    .oneof(
      { weight: 3, arbitrary: calls(paramsOf(known), "1.0") },
      { weight: 2, arbitrary: calls(legacyParamsOf(known), "0.3") },
    )
    .map((call) => ({ over: "JSON-RPC", method: "POST", path: "/", ...call }));
}

/** Pieces of a path that are not ids. */
const oddSegments = fc.constantFrom(
  ...[
    "%00",
    "%ff",
    "%c0%af",
    "%2e%2e",
    "..;",
    "%2F",
    "%25",
    "a%0d%0ab",
    "x".repeat(300),
    "x".repeat(9_000),
    "\u00e9",
    "*",
  ],
  ...[":cancel", "none", "__proto__", "%ud800", "+", "1"],
);

function overHttp(known: Known): fc.Arbitrary<Sent> {
  const params = paramsOf(known);
  const id = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...known.tasks) }, oddSegments);
  const receiver = fc.oneof(fc.constantFrom(...known.receivers), oddSegments);
  const empty = fc.constant({});
  const routes: readonly [string, string, fc.Arbitrary<object>][] = [
    ["POST", "/message:send", params.SendMessage],
    ["POST", "/message:stream", params.SendStreamingMessage],
    ["GET", "/tasks/{id}", params.GetTask],
    ["GET", "/tasks", params.ListTasks],
    ["POST", "/tasks/{id}:cancel", params.CancelTask],
    ["POST", "/tasks/{id}:subscribe", empty],
    ["GET", "/tasks/{id}:subscribe", empty],
    ["POST", "/tasks/{id}/pushNotificationConfigs", params.CreateTaskPushNotificationConfig],
    ["GET", "/tasks/{id}/pushNotificationConfigs", params.ListTaskPushNotificationConfigs],
    ["GET", "/tasks/{id}/pushNotificationConfigs/{receiver}", empty],
    ["DELETE", "/tasks/{id}/pushNotificationConfigs/{receiver}", empty],
    ["GET", "/extendedAgentCard", empty],
    ["GET", "/.well-known/agent-card.json", empty],
    ["GET", "/artifacts/{id}/{receiver}", empty],
    ["GET", "/{id}/{receiver}", empty],
  ];
  const tenant = fc.oneof(
    { weight: 6, arbitrary: fc.constant("") },
    oddSegments.map((name) => `/${name}`),
  );
  const otherVerb = fc.constantFrom("PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "GET", "POST");
  return fc.constantFrom(...routes).chain(([verb, route, fields]) =>
    fc
      .record({
        method: fc.oneof({ weight: 9, arbitrary: fc.constant(verb) }, otherVerb),
        headers: headersWith("1.0"),
        query: fc.tuple(fields, edits).map(([whole, changes]) => queryOf(edited(whole, changes))),
        body: bodyOf(fields),
        ...{ tenant, id, receiver },
      })
      .map(({ method, headers, query, body, tenant, id, receiver }) => {
        const path = tenant + route.replace("{id}", id).replace("{receiver}", receiver);
        const hasBody = method !== "GET" && method !== "HEAD";
        return {
          over: "HTTP+JSON",
          method,
          headers,
          path: hasBody ? path : `${path}?${query}`,
          ...(hasBody && { body }),
        };
      }),
  );
}

function queryOf(params: unknown): string {
  const fields = typeof params === "object" && params !== null ? Object.entries(params) : [["", String(params)]];
  const query = new URLSearchParams();
  for (const [name = "", value] of fields) {
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
    query.append(name.toWellFormed(), text.toWellFormed().slice(0, 4_000));
  }
  return query.toString();
}

const codecs: Readonly<Record<MethodName, { fromJSON(value: unknown): unknown }>> = {
  SendMessage: SendMessageRequest,
  SendStreamingMessage: SendMessageRequest,
  GetTask: GetTaskRequest,
  ListTasks: ListTasksRequest,
  CancelTask: CancelTaskRequest,
  SubscribeToTask: SubscribeToTaskRequest,
  CreateTaskPushNotificationConfig: TaskPushNotificationConfig,
  GetTaskPushNotificationConfig: GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigs: ListTaskPushNotificationConfigsRequest,
  DeleteTaskPushNotificationConfig: DeleteTaskPushNotificationConfigRequest,
  GetExtendedAgentCard: GetExtendedAgentCardRequest,
};

/** In protobuf, or as JSON if protobuf has no way to say it. */
function encoded(method: MethodName, value: unknown): Uint8Array {
  const { requestSerialize } = grpcMethod(method);
  try {
    return (requestSerialize as (message: unknown) => Buffer)(codecs[method].fromJSON(value));
  } catch {
    return encoder.encode(JSON.stringify(value) ?? "");
  }
}

function grpcMethod(method: MethodName) {
  return A2AService[`${method.charAt(0).toLowerCase()}${method.slice(1)}` as keyof typeof A2AService];
}

/** Names and values that HTTP/2 allows, so that they reach the server. */
const oddMetadata = fc.oneof(
  oddHeader.filter(([name]) => !["Content-Type", "Accept-Encoding", "Content-Encoding", "Expect"].includes(name)),
  header("grpc-timeout", "1n", "99999999H"),
);

function overGrpc(known: Known): fc.Arbitrary<Sent> {
  const params = paramsOf(known);
  return fc.constantFrom(...(Object.keys(params) as MethodName[])).chain((method) => {
    const { path, responseStream } = grpcMethod(method);
    const bytes = fc
      .tuple(params[method], edits, cuts)
      .map(([whole, changes, last]) => cut(encoded(method, edited(whole, changes)), last));
    const other = fc.constantFrom(path.toLowerCase(), `${path}x`, "/none/Call");
    const metadata = fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(oddMetadata, { maxLength: 2 }));
    return fc.record({
      over: fc.constant("gRPC" as const),
      path: fc.oneof({ weight: 20, arbitrary: fc.constant(path) }, other),
      streams: fc.constant(responseStream),
      metadata: metadata.map((odd) => ({ "a2a-version": "1.0", ...Object.fromEntries(odd) })),
      bytes,
    });
  });
}

/** What no HTTP client sends; each is whole when the connection is closed. */
const overSocket = ({ host }: Known): fc.Arbitrary<Sent> =>
  fc
    .tuple(
      fc.constantFrom("POST / HTTP/1.1", "POST /message:send HTTP/1.1", "GET /tasks/%00 HTTP/1.1", "GET / HTTP/1.0"),
      fc.constantFrom(
        ...[
          "Content-Length: 99",
          "Content-Length: -1",
          "Content-Length: 5\r\nContent-Length: 6",
          "Transfer-Encoding: chunked",
        ],
        ...[
          "Transfer-Encoding: x",
          "X: \u00ff",
          ": x",
          "A2A-Version",
          `X: ${"y".repeat(30_000)}`,
          "Host: x",
          "Upgrade: websocket",
        ],
      ),
      fc.constantFrom(
        "",
        "{",
        '{"jsonrpc":"2.0","id":1,"method":"ListTasks"}',
        "5\r\n{\r\n",
        "FFFFFFFFFFFFFFFFF\r\n",
        "0\r\n\r\n",
      ),
      fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, cuts),
      oddValue,
    )
    .map(([line, odd, body, changes, value]) => {
      const name = JSON.stringify(value).slice(0, 200);
      const lines = [
        line,
        `Host: ${host}`,
        "A2A-Version: 1.0",
        "Content-Type: application/json",
        `X-Odd: ${name}`,
        odd,
      ];
      return { over: "socket", bytes: cut(Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`, "latin1"), changes) };
    });
