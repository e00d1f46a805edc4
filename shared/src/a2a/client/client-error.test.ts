import { expect, test } from "bun:test";
import { TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { AppError } from "../../core/errors.ts";
import { agentOf, codeOf } from "../../testing/a2a/asked-agent.ts";
import { callError } from "./client-error.ts";

const failing = (error: object) => () =>
  new Response(JSON.stringify({ jsonrpc: "2.0", id: 1, error: { message: "It said no.", ...error } }), {
    headers: { "Content-Type": "application/json" },
  });
const named = (code: unknown) => [
  { "@type": "type.googleapis.com/google.rpc.Help" },
  { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "X", domain: "d", metadata: { code } },
];

test.each<readonly [object, string]>([
  [{ code: -32001 }, "not_found"],
  [{ code: -32002 }, "run_ended"],
  [{ code: -32003 }, "unsupported"],
  [{ code: -32004 }, "unsupported"],
  [{ code: -32005 }, "unsupported"],
  [{ code: -32006 }, "unavailable"],
  [{ code: -32007 }, "unsupported"],
  [{ code: -32008 }, "unsupported"],
  [{ code: -32009 }, "unsupported"],
  [{ code: -32601 }, "unsupported"],
  [{ code: -32602 }, "invalid_input"],
  [{ code: -32603 }, "unavailable"],
  [{ code: -1 }, "unavailable"],
  // What an agent of this system says itself is nearer.
  [{ code: -32603, data: named("cost_limit") }, "cost_limit"],
  [{ code: -32001, data: named("conflict") }, "conflict"],
  [{ code: -32001, data: named("toString") }, "not_found"],
  [{ code: -32001, data: named("no such code") }, "not_found"],
  [{ code: -32001, data: named(7) }, "not_found"],
  [{ code: -32001, data: "conflict" }, "not_found"],
])("an agent's error %j is ours %s", async (error, code) => {
  await using agent = agentOf({ GetTask: failing(error) });
  const client = await agent.connect({ retry: { retries: 0, firstPauseMs: 1 } });
  const failure = await client.get("t").catch((found: unknown) => found);
  expect(failure).toBeInstanceOf(AppError);
  expect(failure).toMatchObject({ code, message: expect.stringContaining("It said no.") });
});

test("an error over HTTP+JSON has its code in its own metadata", () => {
  const told = new UnsupportedOperationError({ message: "Enough.", metadata: { code: "cost_limit" } });
  expect(callError(told)).toMatchObject({ code: "cost_limit", message: "Enough.", cause: told });
  expect(callError(new TaskNotFoundError("No."))).toMatchObject({ code: "not_found", message: "No." });
});

test("an error of ours stays what it is, also as the cause of another; anything else means that there was no answer", async () => {
  const ours = new AppError("too_large", "Too much.");
  expect(callError(ours)).toBe(ours);
  expect(callError(new Error("fetch failed", { cause: ours }))).toBe(ours);
  const reset = new TypeError("reset");
  const away = { code: "unavailable", message: "The agent could not be reached or did not answer in A2A" };
  for (const one of [reset, "reset", undefined, new Error("fetch failed", { cause: reset })])
    expect(callError(one)).toMatchObject({ ...away, cause: one });
  await using agent = agentOf({ GetTask: () => new Response("nonsense") });
  const client = await agent.connect({ retry: { retries: 0, firstPauseMs: 1 } });
  expect(await codeOf(client.get("t"))).toBe("unavailable");
});
