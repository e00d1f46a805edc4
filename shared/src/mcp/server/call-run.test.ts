import { expect, test } from "bun:test";
import type { RunRecord } from "../../core/runs/engine.ts";
import { flowSettingsKey } from "../../core/runs/task.ts";
import { awaitRun, beginRun, type CallDeps, type ServedCall } from "./call-run.ts";

const swe = { name: "swe", type: "agent" };
const runnables = { all: () => [swe], get: (name: string) => (name === "swe" ? swe : undefined) };
const call = (more: Partial<ServedCall> = {}): ServedCall => ({
  principal: "alice",
  contextId: "c",
  signal: new AbortController().signal,
  client: {},
  progress: () => undefined,
  ...more,
});
const schema = { type: "object" };

/** What a run is started with for these arguments. */
async function begun(given: object, name = "swe", more: Partial<ServedCall> = {}) {
  const started: unknown[][] = [];
  const runs = { start: async (...all: unknown[]) => started.push(all) };
  await beginRun(name, { task: "Do it.", wait_seconds: 1, ...given }, { runs, runnables } as never, call(more));
  expect(started).toHaveLength(1);
  const [runnable, asked, principal] = started[0] as [object, { message: { messageId: string } }, string];
  const { messageId, ...message } = asked.message;
  return { runnable, principal, id: messageId, asked: { ...asked, message } };
}
const text = { type: "text", text: "Do it." };

test("a run is its caller's, in the conversation named, and has only what it was given", async () => {
  const plain = { message: { parts: [text] }, contextId: "c" };
  const one = await begun({});
  expect(one).toMatchObject({ runnable: swe, principal: "alice" });
  expect(one.asked).toEqual(plain);
  expect((await begun({})).id).not.toBe(one.id);
  expect((await begun({ options: {} })).asked).toEqual(plain);
  const trace = { traceparent: "00-1-2-01" } as never;
  const settings = { agents: ["swe"], options: { rounds: 2 } };
  const all = await begun({ ...settings, output_schema: schema }, "swe", { trace, contextId: undefined });
  const message = { parts: [text], metadata: { [flowSettingsKey]: settings } };
  expect(all.asked).toEqual({ message, contextId: undefined, trace, outputSchema: schema } as never);
  await expect(begun({}, "other")).rejects.toMatchObject({ code: "not_found" });
});

test("a file goes along by its name with its text or its bytes; with both or neither it is refused", async () => {
  const files = [
    { name: "a.txt", text: "für" },
    { name: "b.bin", bytes: "AP8=" },
    { name: "empty", text: "" },
  ];
  const bytes = (name: string, ...content: number[]) => ({ type: "bytes", name, bytes: Buffer.from(content) });
  const { message } = (await begun({ files })).asked as unknown as { message: { parts: unknown } };
  expect(message.parts).toEqual([text, bytes("a.txt", 102, 0xc3, 0xbc, 114), bytes("b.bin", 0, 255), bytes("empty")]);
  for (const file of [{ name: "c" }, { name: "c", text: "", bytes: "" }])
    await expect(begun({ files: [file] })).rejects.toMatchObject({
      code: "invalid_input",
      message: "The file c needs either text or bytes.",
    });
});

/** A run that goes on until `settled` ends; `told` is what its caller was told of it. */
function running(events: readonly object[], settled: (signal: AbortSignal) => Promise<unknown>) {
  const told: string[] = [];
  const seen: { after?: number; isOver: boolean } = { isOver: false };
  const engine = {
    async *follow(_: string, { after, signal }: { after: number; signal: AbortSignal }) {
      seen.after = after;
      yield { kind: "progress", progress: {} };
      for (const event of events) yield { kind: "event", event };
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve());
      });
      seen.isOver = true;
    },
  };
  const deps = {
    engine,
    runs: { settled: (_: unknown, signal: AbortSignal) => settled(signal) },
  } as unknown as CallDeps;
  const wait = (withinMs: number, signal = new AbortController().signal) =>
    awaitRun(
      { id: "r", lastEvent: 7 } as RunRecord,
      withinMs,
      deps,
      call({ signal, progress: (line) => told.push(line) }),
    );
  return { told, seen, wait };
}
const note = (words: string) => ({ v: 1, type: "notice-given", kind: "stuck", text: words });
const whenAborted = (signal: AbortSignal) =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve("as it stands")));

test("until a run has ended its caller is told of its progress since then, and of nothing twice", async () => {
  const { told, seen, wait } = running(
    [note("one"), { v: 1, type: "unheard-of" }, note("one"), note("two")],
    async () => {
      await Bun.sleep(5);
      return "ended";
    },
  );
  expect(await wait(60_000)).toBe("ended" as never);
  expect(seen).toEqual({ after: 7, isOver: true });
  expect(told.map((line) => /one|two/.exec(line)?.[0])).toEqual(["one", "two"]);
});

test("the wait ends with its time or its call, and the run is shown as it stands", async () => {
  const timed = running([], whenAborted);
  expect(await timed.wait(20)).toBe("as it stands" as never);
  const called = running([], whenAborted);
  expect(await called.wait(60_000, AbortSignal.timeout(20))).toBe("as it stands" as never);
  expect([timed.seen.isOver, called.seen.isOver]).toEqual([true, true]);
});
