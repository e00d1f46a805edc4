import { expect, test } from "bun:test";
import type { RunRecord } from "manyhands/internal/core/runs/engine";
import type { Runnable } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import type { ChatMessage } from "./chat-request.ts";
import { chatMetadata, runOfChat } from "./conversation.ts";

const user = (content: string): ChatMessage => ({ role: "user", content }) as ChatMessage;
const said = (content: string): ChatMessage => ({ role: "assistant", content }) as ChatMessage;
const runnable = { name: "manus", kind: "manus" } as Runnable;

test("a chat is found among the newest hundred runs of its model and principal, by what was said before its answers", async () => {
  const asked: unknown[] = [];
  const begun = (id: string, ...messages: ChatMessage[]) =>
    ({ id, input: { message: { metadata: chatMetadata(messages) } } }) as unknown as RunRecord;
  const others = Array.from({ length: 98 }, (_, at) => begun(`o${at}`, user(`other ${at}`)));
  const all = [
    ...others,
    begun("later", user("a"), said("b"), user("c")),
    begun("first", user("a")),
    begun("old", user("z")),
  ];
  const list = (async (filter: { limit: number }, principal: string) => {
    asked.push([filter, principal]);
    return { runs: all.slice(0, filter.limit) };
  }) as unknown as Runs["list"];
  const found = async (...messages: ChatMessage[]) =>
    (await runOfChat(messages, runnable, { list } as Runs, "ann"))?.id;
  expect(await found(user("a"), said("b"), user("x"))).toBe("first");
  expect(await found(user("a"), said("b"), user("c"), said("d"), user("e"))).toBe("later");
  expect(await found(user("z"), said("b"), user("x"))).toBeUndefined();
  expect(asked[0]).toEqual([{ of: runnable, limit: 100 }, "ann"]);
  asked.splice(0);
  // A chat without an answer is a new one: nothing is looked for.
  expect(await found(user("a"))).toBeUndefined();
  expect(asked).toEqual([]);
});
