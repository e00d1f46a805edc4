import { expect, test } from "bun:test";
import { TaskNotFoundError } from "@a2a-js/sdk/errors";
import { Metadata, status } from "@grpc/grpc-js";
import { callerNamed } from "../../../core/caller.ts";
import { AppError, type ErrorCode } from "../../../core/errors.ts";
import { QuotaError } from "../../../core/runs/quota.ts";
import { AppFailure, FieldViolationsError } from "../../wire-error.ts";
import { callFacts } from "../call-context.ts";
import { beginCall, clientEnd, type GrpcCall } from "./grpc-call.ts";
import { failureStatus } from "./grpc-status.ts";

const failed = (code: ErrorCode) => failureStatus(new AppFailure(new AppError(code, "No.")));
const details = ({ metadata }: ReturnType<typeof failureStatus>) => String(metadata.get("grpc-status-details-bin")[0]);

test.each<readonly [ErrorCode, status]>([
  ["invalid_input", status.INVALID_ARGUMENT],
  ["unauthorized", status.UNAUTHENTICATED],
  ["forbidden", status.PERMISSION_DENIED],
  ["not_found", status.NOT_FOUND],
  ["conflict", status.ABORTED],
  ["too_large", status.RESOURCE_EXHAUSTED],
  ["rate_limited", status.RESOURCE_EXHAUSTED],
  ["unavailable", status.UNAVAILABLE],
  ["timeout", status.DEADLINE_EXCEEDED],
  ["internal", status.INTERNAL],
])("a failure with the code %s has the status %i, and says so in its details", (code, expected) => {
  const answer = failed(code);
  expect([answer.code, answer.details]).toEqual([expected, "No."]);
  expect(details(answer)).toContain(code.toUpperCase());
  expect(answer.metadata.get("retry-after")).toEqual(code === "unavailable" ? ["5"] : []);
});

test("a quota says when to come again, an unknown task is not found, and each wrong field is named", () => {
  const quota = failureStatus(new AppFailure(new QuotaError("Too many.", 77)));
  expect([quota.code, quota.metadata.get("retry-after")]).toEqual([status.RESOURCE_EXHAUSTED, ["77"]]);
  expect(failureStatus(new TaskNotFoundError("No.")).code).toBe(status.NOT_FOUND);
  const fields = ["message.parts", "message.role"].map((field) => ({ field, description: `${field} is wrong` }));
  const wrong = failureStatus(new FieldViolationsError(fields));
  expect(wrong.code).toBe(status.INVALID_ARGUMENT);
  expect(details(wrong)).toContain("google.rpc.BadRequest");
  for (const { description } of fields) expect(details(wrong)).toContain(description);
});

/** A call with this metadata, which its client may cancel. */
function callWith(pairs: readonly (readonly [string, string])[], { cancelled = false, peer = "127.0.0.1:5" } = {}) {
  const metadata = new Metadata();
  for (const [name, value] of pairs) metadata.add(name, value);
  const listeners: (() => void)[] = [];
  const once = (_: string, listener: () => void) => void listeners.push(listener);
  const call = {
    request: new Uint8Array(),
    metadata,
    cancelled,
    getPeer: () => peer,
    getPath: () => "/A2A/Get",
    once,
  } as unknown as GrpcCall;
  return { call, cancel: () => listeners.map((listener) => listener()) };
}
const version = ["a2a-version", "1.0"] as const;

test("a call's metadata are read as headers are, each value of them, and its client's going is known", async () => {
  const seen: Headers[] = [];
  const uris = ["https://manyhands.dev/one", "https://manyhands.dev/two"];
  const { call, cancel } = callWith([
    version,
    ["last-event-id", "7"],
    ...uris.map((uri) => ["a2a-extensions", uri] as const),
  ]);
  const begun = await beginCall(call, ({ headers }) => {
    seen.push(headers);
    return callerNamed("ann");
  });
  const facts = callFacts(begun.context);
  expect([facts.principal, facts.after, begun.context.requestedExtensions]).toEqual(["ann", 7, uris]);
  expect(seen[0]?.get("a2a-extensions")).toBe(uris.join(", "));
  expect(facts.signal.aborted).toBe(false);
  cancel();
  expect(facts.signal.aborted).toBe(true);
  const late = await beginCall(callWith([version], { cancelled: true }).call, () => callerNamed("ann"));
  expect(callFacts(late.context).signal.aborted).toBe(true);
  await expect(beginCall(callWith([]).call, () => callerNamed("ann"))).rejects.toThrow("version 1.0 only");
});

test.each([
  ["127.0.0.1:5", { address: "127.0.0.1", port: 5 }],
  ["[::1]:443", { address: "::1", port: 443 }],
  ["::ffff:10.0.0.1:80", { address: "::ffff:10.0.0.1", port: 80 }],
  ["unknown", undefined],
])("the client at %s is %j", (peer, end) => {
  expect(clientEnd(callWith([], { peer }).call)).toEqual(end as never);
});
