import { expect, test } from "bun:test";
import * as z from "zod";
import type { JournalEvent } from "../core/events/events.ts";
import type { Recalled, RecallRequest } from "../core/memory.ts";
import type { Engine } from "../core/runs/engine.ts";
import { defineTool } from "../core/tools/define-tool.ts";
import { agentForTest } from "../testing/agent/agent.ts";
import { recallFor } from "./recall-for.ts";

const entry = (id: string) => ({ id, kind: "fact", text: `fact ${id}` }) as const;
const recalled: Recalled = { entries: [entry("1")], takenIn: ["shop.example"], by: "words" };

test("what the memory brings counts as taken in from the first turn on", async () => {
  const seen: unknown[] = [];
  const watch = defineTool({
    name: "planning",
    description: "Looks.",
    input: z.strictObject({}),
    effect: "pure",
    brings: [],
    run: async (_, { takenIn }) => {
      seen.push(takenIn);
      return "seen";
    },
  });
  const script = [{ calls: [{ name: "planning", args: {} }] }, { text: "Done." }];
  await using agent = await agentForTest({ script, tools: [watch], recall: async () => recalled });
  await agent.run("Go.");
  expect(seen).toEqual([["shop.example"]]);
});

test("what looking into the memory used counts towards the task's budget", async () => {
  const usage = {
    inputTokens: 5_000,
    cachedInputTokens: 0,
    outputTokens: 0,
    costUsd: 0.01,
    source: "provider",
  } as const;
  const answer = { text: "Done.", usage: { prompt_tokens: 10, completion_tokens: 10 } };
  const codeWithin = async (tokens: number) => {
    await using agent = await agentForTest({ script: [answer], recall: async () => ({ ...recalled, usage }) });
    return (await agent.run("Go.", { budget: { tokens } })).record.error?.code;
  };
  expect(await codeWithin(4_000)).toBe("token_limit");
  expect(await codeWithin(20_000)).toBeUndefined();
});

/** What a task that looks into its memory by `recall` gets, and the events it tells. */
async function lookedUp(
  recall: (request: RecallRequest) => Promise<Recalled | undefined>,
  { signal = new AbortController().signal, journal = [], withinMs = 60_000 }: Partial<Circumstances> = {},
) {
  const events: JournalEvent[] = [];
  const engine = { events: async () => journal.map((event) => ({ event })) } as unknown as Pick<Engine, "events">;
  const message = { messageId: "m", parts: [{ type: "text", text: "Which?" } as const] };
  const model = { capabilities: { contextWindow: 8_000 } } as never;
  const step = { signal, emit: (event: JournalEvent) => void events.push(event) };
  const deps = { recall, engine, model };
  const got = await recallFor({ principal: "alice" }, { message }, ["earlier"], deps, step, withinMs);
  return { got, events };
}

type Circumstances = { readonly signal: AbortSignal; readonly journal: readonly object[]; readonly withinMs: number };

const never = ({ signal }: RecallRequest) =>
  new Promise<undefined>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));

test("a memory is asked for its owner's entries, by the user's words, for the window of the task's model", async () => {
  const asked: RecallRequest[] = [];
  await lookedUp(async (request) => void asked.push(request));
  expect(asked).toMatchObject([{ principal: "alice", words: "Which?", contextWindow: 8_000 }]);
});

test("a memory that does not answer in time, or fails, is told of, and the task begins without it", async () => {
  const notice = { type: "notice-given", kind: "tools", text: "Your memory could not be searched." } as const;
  const nothing = { got: undefined, events: [notice] };
  expect(await lookedUp(never, { withinMs: 20 })).toEqual(nothing);
  expect(await lookedUp(() => Promise.reject(new Error("a secret of the disk")))).toEqual(nothing);
});

test("a task that ends while its memory is searched records nothing of it", async () => {
  const ending = new AbortController();
  const looking = lookedUp(
    (request) => {
      setImmediate(() => ending.abort(new Error("the run is over")));
      return never(request);
    },
    { signal: ending.signal },
  );
  expect(looking).rejects.toThrow("the run is over");
  await looking.catch(() => undefined);
});

test("what the conversation was shown already is known, unless a compaction took it away", async () => {
  const told = (id: string) => ({ type: "memory-recalled", entries: [entry(id)], takenIn: [], by: "words" });
  const compaction = { type: "context-compacted", summary: "", kept: 0 };
  const knownAfter = async (...journal: object[]) => {
    let known: readonly unknown[] = [];
    await lookedUp(
      async (request) => {
        known = (await request.known()).map(({ id }) => id);
        return undefined;
      },
      { journal },
    );
    return known;
  };
  expect(await knownAfter(told("1"), told("2"))).toEqual(["1", "2"]);
  expect(await knownAfter(told("1"), compaction, told("2"))).toEqual(["2"]);
});
