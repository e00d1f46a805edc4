import { expect, test } from "bun:test";
import { type Artifact, type Message, type StreamResponse, TaskState } from "@a2a-js/sdk";
import { artifactParts, messageText, replyAsTask, taskUpdate } from "./task-update.ts";

const part = (content: object, more: object = {}) => ({
  content,
  filename: "",
  mediaType: "",
  metadata: undefined,
  ...more,
});
const text = (value: string, more: object = {}) => part({ $case: "text", value }, more);
const url = (more: object = {}) => part({ $case: "url", value: "https://a.example/x" }, more);
const update = ($case: string, value: object) => taskUpdate({ payload: { $case, value } } as unknown as StreamResponse);

test("an artifact's parts keep their types and names; a file of ours is known by its hash, bytes are left out", () => {
  const sha256 = "a".repeat(64);
  const parts = [
    text("words"),
    text("# T", { mediaType: "text/markdown" }),
    part({ $case: "data", value: { n: 0 } }),
    part({ $case: "data", value: null }, { mediaType: "application/json" }),
    url(),
    url({ filename: "x.csv", mediaType: "text/csv" }),
    url({ filename: "y.csv", mediaType: "text/csv", metadata: { "manyhands/file": { sha256, size: 3 } } }),
    part({ $case: "raw", value: Buffer.from("x") }),
  ];
  expect(artifactParts({ parts } as unknown as Artifact)).toEqual([
    { type: "text", text: "words" },
    { type: "text", text: "# T", mediaType: "text/markdown" },
    { type: "data", data: { n: 0 } },
    { type: "data", data: null, mediaType: "application/json" },
    { type: "url", url: "https://a.example/x" },
    { type: "url", url: "https://a.example/x", name: "x.csv", mediaType: "text/csv" },
    { type: "file", name: "y.csv", mediaType: "text/csv", sha256, size: 3 },
  ]);
});

test("an update says where in the journal it stands, and whether a piece goes on or is the last", () => {
  const artifact = { artifactId: "a", name: "answer", parts: [] };
  for (const [append, lastChunk] of [
    [true, false],
    [false, true],
  ])
    expect(update("artifactUpdate", { artifact, append, lastChunk, metadata: { "manyhands/seq": 7 } })).toEqual({
      kind: "artifact",
      artifact: artifact as unknown as Artifact,
      append: append === true,
      lastChunk: lastChunk === true,
      seq: 7,
    });
  expect(update("artifactUpdate", { artifact: undefined })).toBeUndefined();
  const status = { state: TaskState.TASK_STATE_WORKING, message: { parts: [text("a"), url(), text("b")] } };
  expect(update("statusUpdate", { status, metadata: { "manyhands/seq": "7" } })).toEqual({
    kind: "status",
    state: TaskState.TASK_STATE_WORKING,
    text: "a\nb",
  });
  const event = { at: 5, event: { type: "step-started", step: 1 } };
  const usage = { tokens: 3, outputTokens: 1, usd: 0, unpriced: false };
  const metadata = { "manyhands/seq": 0, "manyhands/event": event, "manyhands/usage": usage };
  expect(update("statusUpdate", { status: undefined, metadata })).toMatchObject({
    ...{ state: TaskState.TASK_STATE_UNSPECIFIED, text: "", seq: 0, usage, journal: event },
  });
  expect(taskUpdate({ payload: undefined })).toBeUndefined();
});

test("a reply is a completed task whose answer it is, with what it says of itself", () => {
  const message = { messageId: "m", taskId: "t", contextId: "c", parts: [text("hi")], metadata: { k: 1 } };
  expect(replyAsTask(message as unknown as Message)).toMatchObject({
    id: "t",
    contextId: "c",
    status: { state: TaskState.TASK_STATE_COMPLETED },
    artifacts: [{ artifactId: "m", name: "answer", parts: message.parts as unknown as [] }],
    history: [message as unknown as Message],
    metadata: { k: 1 },
  });
  expect(messageText(undefined)).toBe("");
});
