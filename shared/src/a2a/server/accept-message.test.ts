import { expect, test } from "bun:test";
import { SendMessageRequest } from "@a2a-js/sdk";
import type { Part } from "../../core/message.ts";
import type { Engine, RunRecord, StartRequest } from "../../core/runs/engine.ts";
import { sha256Of } from "../../core/text/sha256.ts";
import type { ArtifactStore } from "../../core/workspace.ts";
import { FieldViolationsError } from "../wire-error.ts";
import { acceptMessage } from "./accept-message.ts";
import type { TaskDeps } from "./task-access.ts";

/** The parts that a run starts with, and the files that were stored for it. */
async function accepted(message: object, more: object = {}) {
  const files: { name: string; mediaType?: string; text: string }[] = [];
  const started: StartRequest[] = [];
  const describe = (bytes: Uint8Array, { name, mediaType = "guessed" }: { name: string; mediaType?: string }) => ({
    sha256: sha256Of(bytes as never),
    name,
    mediaType,
    size: bytes.length,
  });
  const artifacts = {
    describe,
    async put(bytes: Uint8Array, about: { name: string; mediaType?: string }) {
      files.push({ ...about, text: Buffer.from(bytes).toString() });
      return describe(bytes, about);
    },
  } as unknown as ArtifactStore;
  const engine = {
    admit: async () => undefined,
    async start(request: StartRequest) {
      started.push(request);
      return { run: { id: "r" } as RunRecord, created: true };
    },
  } as unknown as Engine;
  const deps = { engine, artifacts, kind: "swe", publicUrl: "http://a.example", draft: "replies", dedupeMs: 0 };
  const request = SendMessageRequest.fromJSON({ message: { messageId: "m", role: "ROLE_USER", ...message }, ...more });
  await acceptMessage(deps as unknown as TaskDeps, request, { principal: "ann", wire: "1.0", hitl: false });
  const input = started[0]?.input as unknown as { message: { parts: Part[]; metadata?: object }; answerAs?: string };
  return { ...input.message, answerAs: input.answerAs, files, started };
}

const partsOf = async (...parts: readonly object[]) => (await accepted({ parts })).parts;
const room = 256 * 1024;

test("words, data and links stay in the message, with their types and names", async () => {
  expect(
    await partsOf(
      { text: "hi", mediaType: "text/markdown" },
      { data: { a: [0] }, mediaType: "application/json" },
      { url: "https://a.example/x", mediaType: "image/png", filename: "folder/x.png" },
      { text: "" },
    ),
  ).toEqual([
    { type: "text", text: "hi", mediaType: "text/markdown" },
    { type: "data", data: { a: [0] }, mediaType: "application/json" },
    { type: "url", url: "https://a.example/x", mediaType: "image/png", name: "folder/x.png" },
    { type: "text", text: "" },
  ]);
});

test.each([
  ["a.txt", "a.txt"],
  ["../../etc/passwd", "passwd"],
  ["C:\\temp\\a.txt", "a.txt"],
  ["/home/ann/a.txt", "a.txt"],
  ["a/../b/c.txt", "c.txt"],
  ["visualization/./x.png", "visualization/x.png"],
  ["docs\\a.txt", "docs/a.txt"],
  [" a.txt ", "a.txt"],
  ["folder/", "file"],
  ["..", "file"],
  ["a/.", "file"],
  [" ", "file"],
  ["", "file"],
])("content sent under the name %p is the file %p", async (filename, name) => {
  const { parts, files } = await accepted({ parts: [{ raw: Buffer.from("hi").toString("base64"), filename }] });
  expect(parts).toMatchObject([{ type: "file", name, size: 2 }]);
  expect(files).toEqual([{ name, text: "hi" }]);
});

test("a message holds 256 kB of words and data together; the part that does not fit becomes a file", async () => {
  const types = async (...parts: readonly object[]) => (await partsOf(...parts)).map(({ type }) => type);
  const text = (length: number) => ({ text: "x".repeat(length) });
  expect(await types(text(room))).toEqual(["text"]);
  expect(await types(text(room + 1))).toEqual(["file"]);
  expect(await types(text(room - 5), { data: "abc" })).toEqual(["text", "data"]);
  expect(await types(text(room - 4), { data: "abc" }, text(4))).toEqual(["text", "file", "text"]);
  const { files } = await accepted({ parts: [text(room + 1), { data: "y".repeat(room) }] });
  expect(files.map(({ name, mediaType }) => [name, mediaType])).toEqual([
    ["message.txt", "text/plain"],
    ["message.json", "application/json"],
  ]);
  expect(files[1]?.text).toBe(JSON.stringify("y".repeat(room)));
  const named = await accepted({ parts: [{ ...text(room + 1), filename: "long.md", mediaType: "text/markdown" }] });
  expect(named.files[0]).toMatchObject({ name: "long.md", mediaType: "text/markdown" });
});

test("metadata are kept, up to 64 kB", async () => {
  const parts = [{ text: "hi" }];
  const padded = (length: number) => ({ a: "x".repeat(length - '{"a":""}'.length) });
  expect((await accepted({ parts, metadata: padded(64 * 1024) })).metadata).toEqual(padded(64 * 1024));
  expect(await accepted({ parts })).not.toHaveProperty("metadata");
  await expect(accepted({ parts, metadata: padded(64 * 1024 + 1) })).rejects.toBeInstanceOf(FieldViolationsError);
});

test("how the answer is wanted is kept with the task, and each conversation is one of the sender's", async () => {
  const parts = [{ text: "hi" }];
  const modes = (...acceptedOutputModes: readonly string[]) => ({ configuration: { acceptedOutputModes } });
  expect((await accepted({ parts }, modes("application/json"))).answerAs).toBe("data");
  expect((await accepted({ parts }, modes("text/plain"))).answerAs).toBeUndefined();
  const [named, unnamed, again] = await Promise.all(
    [{ contextId: "c" }, {}, {}].map(async (one) => (await accepted({ parts, ...one })).started[0]),
  );
  expect(named).toMatchObject({ contextId: "c", principal: "ann", kind: "swe" });
  expect(unnamed?.contextId).toMatch(/^[0-9a-f-]{36}$/);
  expect(unnamed?.contextId).not.toBe(again?.contextId as string);
  expect(named?.dedupe?.key).toBe(JSON.stringify(["swe", "ann", "m"]));
  expect(named?.dedupe?.hash).not.toBe(unnamed?.dedupe?.hash as string);
  expect(unnamed?.dedupe?.hash).toBe(again?.dedupe?.hash as string);
});

test("a message that asks for notifications is refused by a server that sends none, before anything is stored", async () => {
  const configuration = { taskPushNotificationConfig: { url: "https://a.example" } };
  await expect(accepted({ parts: [{ text: "hi" }] }, { configuration })).rejects.toThrow(/push/i);
});
