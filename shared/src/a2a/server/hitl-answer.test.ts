import { afterAll, expect, test } from "bun:test";
import { Message } from "@a2a-js/sdk";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { createProjectionCache } from "../../runs/projection-cache.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import { hitlExtension } from "../extensions.ts";
import { FieldViolationsError } from "../wire-error.ts";
import { inPlainWords } from "./hitl-answer.ts";
import type { TaskDeps } from "./task-access.ts";

const store = scratch();
const engine = createEmbeddedEngine({ path: store.path });
afterAll(async () => {
  await engine.close();
  store[Symbol.dispose]();
});

const deps = { engine, kind: "swe", projections: createProjectionCache(engine) } as unknown as TaskDeps;
const { run } = await engine.start({
  ...{ kind: "swe", input: null, principal: "ann", contextId: "c" },
  events: [
    { type: "message-received", messageId: "first", parts: [{ type: "text", text: "go" }] },
    { type: "question-asked", question: "Which?", kind: "question" },
  ],
});
const answering = (id: string) => ({ type: "ask_user_response", id, answers: [{ answer: ["this one"] }] });
const right = answering(`${run.id}/2`);
const image = { type: "url", url: "https://a.example/x.png" } as const;

type Given = {
  readonly response?: object;
  readonly message?: Partial<Message>;
  readonly hitl?: boolean;
  readonly dedupeMs?: number;
};
const worded = ({ response = right, message, hitl = true, ...window }: Given) => {
  const sent = { ...Message.fromJSON({}), messageId: "m", taskId: run.id, extensions: [hitlExtension], ...message };
  const parts = [{ type: "text", text: "Approved" } as const, image];
  const incoming = { messageId: sent.messageId, parts, metadata: { [hitlExtension]: response as never } };
  return inPlainWords(deps, sent, incoming, { principal: "ann", hitl, ...window });
};

test("an answer in the form becomes its words, and what was sent along with it stays", async () => {
  expect((await worded({})).parts).toEqual([{ type: "text", text: "this one" }, image]);
});

test.each<readonly [string, Given]>([
  ["from a call without the extension", { hitl: false }],
  ["in a message without the extension", { message: { extensions: [] } }],
  ["without a task", { message: { taskId: "" } }],
  ["to another question", { response: answering("another") }],
])("an answer %s is refused", async (_, given) => {
  await expect(worded(given)).rejects.toBeInstanceOf(FieldViolationsError);
});

test("a message that the task has already is not judged again, unless each sending is a new one", async () => {
  const again = { response: answering("another"), message: { messageId: "first" } };
  expect((await worded(again)).parts).toHaveLength(2);
  await expect(worded({ ...again, dedupeMs: 0 })).rejects.toBeInstanceOf(FieldViolationsError);
});

test("to a task that has ended no answer is judged: that it has ended is all there is to say", async () => {
  const { run: over } = await engine.start({ kind: "swe", input: null, principal: "ann", contextId: "c" });
  await engine.cancel(over.id);
  expect((await worded({ message: { taskId: over.id } })).parts).toEqual([{ type: "text", text: "this one" }, image]);
});
