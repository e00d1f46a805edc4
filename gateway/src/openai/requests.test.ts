import { expect, test } from "bun:test";
import { callerNamed } from "manyhands/internal/core/caller";
import { AppError } from "manyhands/internal/core/errors";
import type { Engine, RunRecord } from "manyhands/internal/core/runs/engine";
import type { Runnable, Runnables } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import { noting } from "../testing/rest.ts";
import { chatMetadata } from "./conversation.ts";
import { openAiAdapter } from "./openai-adapter.ts";

const user = (content: string) => ({ role: "user" as const, content });
const assistant = (content: string) => ({ role: "assistant" as const, content });
const files = { files: [], usage: { tokens: 0 }, createdAt: "1970-01-01T00:00:00.000Z" };

/** The adapter over a flow whose runs stand like this, and what it asks of them. */
function adapter({
  view = { status: "completed" } as object,
  known = [] as object[],
  fails = undefined as unknown,
  away = undefined as AppError | undefined,
} = {}) {
  const run = { id: "r1", principal: "ann", createdAt: 0, lastEvent: 0, contextId: "c1" } as RunRecord;
  const { asked, functions } = noting({
    ...{ list: { runs: known }, start: run, answer: run, settled: run, own: run, cancel: run },
  });
  const followed: AbortSignal[] = [];
  const reported: unknown[] = [];
  const engine = {
    async *follow(_: string, { signal }: { readonly signal: AbortSignal }) {
      followed.push(signal);
      if (fails !== undefined) throw fails;
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
  };
  const flow = { type: "flow", name: "debate" } as Runnable;
  const app = openAiAdapter({
    runs: { ...functions, view: async () => ({ id: "r1", ...files, ...view }) } as unknown as Runs,
    runnables: { all: () => [flow], ofKind: () => undefined } as Runnables,
    engine: engine as unknown as Engine,
    heartbeatMs: 60_000,
    identify: async () => (away === undefined ? callerNamed("ann") : Promise.reject(away)),
    report: (bug) => reported.push(bug),
  });
  const chat = (body: object, init: RequestInit = {}) =>
    app.request("/v1/chat/completions", {
      ...{ method: "POST", headers: { "Content-Type": "application/json" } },
      body: JSON.stringify({ model: "debate", messages: [user("Go")], ...body }),
      ...init,
    });
  return { app, chat, asked, followed, reported };
}

test("an answer to a flow's question is the newest message alone, not the chat around it", async () => {
  const chat = [user("Go"), assistant("Which?"), user("That one")];
  const known = [{ id: "r1", input: { message: { metadata: chatMetadata([user("Go")]) } } }];
  const { chat: post, asked } = adapter({ known, view: { status: "input-required", question: "Which?" } });
  await post({ messages: chat });
  // Only the caller's own runs of that flow are looked through.
  expect(asked[0]).toEqual(["list", { of: expect.objectContaining({ name: "debate" }), limit: 100 }, "ann"]);
  const answer = asked.find(([name]) => name === "answer");
  expect(answer).toEqual([
    "answer",
    "r1",
    { messageId: expect.any(String), parts: [{ type: "text", text: "That one" }] },
    "ann",
  ]);
});

test("who said what tells chats apart", () => {
  expect(chatMetadata([user("a"), assistant("b")])).not.toEqual(chatMetadata([assistant("a"), user("b")]));
});

test("a new chat starts a run with its trace, in no conversation, found again by what was said", async () => {
  const { chat, asked } = adapter();
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  await chat({}, { headers: { traceparent } });
  const start = asked.find(([name]) => name === "start");
  expect(start?.[2]).toMatchObject({ trace: { traceparent }, message: { metadata: chatMetadata([user("Go")]) } });
  expect(start?.[2]).toHaveProperty("contextId", undefined);
  expect(start?.[3]).toBe("ann");
});

test("a reader that goes, or breaks off its stream, ends the following and cancels the run, but none that is paused or asks", async () => {
  for (const [view, ends] of [
    [{ status: "running" }, 1],
    [{ status: "paused" }, 0],
    [{ status: "input-required", question: "Which?" }, 0],
    [{ status: "completed" }, 0],
  ] as const)
    for (const how of ["goes", "breaks off"] as const) {
      const gone = new AbortController();
      const { chat, followed, asked, reported } = adapter({ view });
      const reader = (await chat({ stream: true }, { signal: gone.signal })).body?.getReader();
      while (followed.length === 0) await reader?.read();
      if (how === "goes") gone.abort();
      else await reader?.cancel();
      while (how === "goes" && (await reader?.read())?.done === false);
      await Bun.sleep(0);
      const canceled = asked.filter(([name]) => name === "cancel").map((one) => one.slice(0, 3));
      expect([view, how, followed[0]?.aborted, canceled]).toEqual([
        ...[view, how, true],
        Array(ends).fill(["cancel", "r1", "ann"]),
      ]);
      expect(reported).toEqual([]);
    }
});

test("while the store is away, a client is told when to try again, as by the other APIs", async () => {
  const { app } = adapter({ away: new AppError("storage_unavailable", "The disk is full.") });
  const answer = await app.request("/v1/models");
  expect([answer.status, answer.headers.get("Retry-After")]).toEqual([503, "5"]);
});

test("a stream that breaks off tells why in the form of this API, and of a bug, which is reported, nothing", async () => {
  for (const [fails, told, bugs] of [
    [new AppError("quota_exceeded", "Full."), '"type":"rate_limit_error"', 0],
    [new TypeError("a secret"), '"type":"api_error"', 1],
  ] as const) {
    const { chat, reported } = adapter({ fails });
    const text = await (await chat({ stream: true })).text();
    expect(text).toContain(told);
    expect(text).not.toContain("secret");
    expect(reported).toHaveLength(bugs);
  }
});

test.each<readonly [string, RequestInit, number, string]>([
  ["/v1/chat/completions", { method: "POST", body: "x".repeat(11_000_000) }, 413, "too_large"],
  ["/v1/chat/completions", { method: "POST", body: "{" }, 400, "invalid_input"],
  ["/v1/embeddings", { method: "POST", body: "{}" }, 404, "not_found"],
  ["/v1/models/nobody", {}, 404, "not_found"],
  ["/v1/chat/completions", {}, 405, "unsupported"],
  ["/v1/models", { method: "DELETE" }, 405, "unsupported"],
])(
  "a request to %s that cannot be answered is refused in the form of this API: %#",
  async (path, init, status, code) => {
    const answer = await adapter().app.request(path, init);
    expect([answer.status, await answer.json()]).toEqual([
      status,
      { error: { message: expect.any(String), type: "invalid_request_error", param: null, code } },
    ]);
  },
);
