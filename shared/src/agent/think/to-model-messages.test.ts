import { expect, test } from "bun:test";
import type { ArtifactStore, StoredFile } from "../../core/workspace.ts";
import type { TaskMessage } from "../task/agent-state.ts";
import { pairSafe, toModelMessages } from "./to-model-messages.ts";

const user = (text: string): TaskMessage => ({ role: "user", parts: [{ type: "text", text }] });
const asks = (...ids: string[]): TaskMessage => ({
  role: "assistant",
  text: "",
  toolCalls: ids.map((id) => ({ id, name: "bash", arguments: "{}" })),
});
const result = (callId: string, text = callId): TaskMessage => ({
  role: "tool",
  callId,
  name: "bash",
  text,
  isError: false,
});

test("a conversation in order stays as it is", () => {
  const messages = [user("go"), asks("a", "b"), result("a"), result("b"), asks("c"), result("c")];
  expect(pairSafe(messages)).toEqual(messages);
});

test("a call without a result gets one that says so", () => {
  const [, , filled] = pairSafe([user("go"), asks("a")]);
  expect(filled).toMatchObject({ role: "tool", callId: "a", isError: true });
});

test("a result without its call is left out", () => {
  expect(pairSafe([result("lost"), user("go")])).toEqual([user("go")]);
});

test("a user's message between a call and its result is placed after the result", () => {
  expect(pairSafe([asks("a"), user("hurry"), result("a")])).toEqual([asks("a"), result("a"), user("hurry")]);
});

test("a result that comes after the next turn is not the call's any more", () => {
  const [, missing] = pairSafe([asks("a"), user("on"), asks("b"), result("a"), result("b")]);
  expect(missing).toMatchObject({ callId: "a", text: "(no result: the call was canceled)" });
});

test("results follow in the order of the calls, each once", () => {
  const safe = pairSafe([asks("a", "b"), result("b"), result("a", "first"), result("a", "again")]);
  expect(safe.slice(1)).toEqual([result("a", "first"), result("b")]);
});

const artifacts = {
  get: async (id: string) => (id === "lost" ? undefined : new Blob([id])),
} as unknown as ArtifactStore;
const picture = (sha256: string, mediaType = "image/png"): StoredFile => ({ name: "p", mediaType, size: 1, sha256 });
const shown = (sha256: string, mediaType = "image/png") => ({
  type: "image" as const,
  mediaType,
  data: Buffer.from(sha256).toString("base64"),
});
const text = (it: string) => ({ type: "text", text: it }) as const;
const seeing = { vision: true, artifacts, hints: [] };
const withImages = (...images: StoredFile[]) => ({ ...result("a"), name: "look", images }) as TaskMessage;

test("images of a result, and an observation with its images, are part of the result they follow", async () => {
  const seen = { role: "observation", text: "SIGHT", images: [picture("now")] } as const;
  const messages = [asks("a"), withImages(picture("one"), picture("two")), seen];
  const last = async (options: typeof seeing) => (await toModelMessages(messages, options)).at(-1);
  expect(await last(seeing)).toMatchObject({ role: "tool", images: [shown("one"), shown("two"), shown("now")] });
  expect(await last(seeing)).toMatchObject({ text: expect.stringMatching(/\n\nSIGHT$/) });
  expect(await last({ ...seeing, vision: false })).not.toHaveProperty("images");
});

test("an observation that follows no result is a message, and a folded one without words is none", async () => {
  const seen = (text: string) => ({ role: "observation", text }) as const;
  const goal = { role: "user", parts: [text("go")] };
  expect(await toModelMessages([user("go"), seen("SIGHT")], seeing)).toEqual([
    goal,
    { role: "user", parts: [text("SIGHT")] },
  ] as never);
  expect(await toModelMessages([user("go"), seen("")], seeing)).toEqual([goal] as never);
});

test.each(["image/png", "image/jpeg", "image/gif", "image/webp"])(
  "%s from the user is shown and named",
  async (type) => {
    const parts = [{ type: "file", ...picture("one", type) }] as const;
    const named = text(`[file in the workspace: p, ${type}, 1 bytes]`);
    const said = [{ role: "user", parts }] as const;
    expect(await toModelMessages(said, seeing)).toEqual([{ role: "user", parts: [named, shown("one", type)] }]);
    expect(await toModelMessages(said, { ...seeing, vision: false })).toEqual([{ role: "user", parts: [named] }]);
  },
);

test("an image that came under two names is shown once, and both are named", async () => {
  const file = (name: string) => ({ type: "file", name, mediaType: "image/png", size: 1, sha256: "same" }) as const;
  const sent: TaskMessage = { role: "user", parts: [file("chart.png"), file("visualization/chart.png")] };
  const [message] = await toModelMessages([sent], { vision: true, artifacts });
  const parts = message?.role === "user" ? message.parts : [];
  expect(parts.map(({ type }) => type)).toEqual(["text", "image", "text"]);
});

test("files that are no image a model takes, or are no longer stored, are named", async () => {
  for (const file of [picture("one", "image/svg+xml"), picture("one", "text/plain"), picture("lost")]) {
    const [message] = await toModelMessages([{ role: "user", parts: [{ type: "file", ...file }] }], seeing);
    expect(message).toEqual({
      role: "user",
      parts: [text(`[file in the workspace: p, ${file.mediaType}, 1 bytes]`)],
    });
  }
});

test("of the notes for agents that were sent a prompt has a bounded part, of another file only its name", async () => {
  const shownOf = async (name: string) => {
    const file = { ...picture("x".repeat(20_000), "text/markdown"), name };
    const [message] = await toModelMessages([{ role: "user", parts: [{ type: "file", ...file }] }], seeing);
    return JSON.stringify(message).length;
  };
  expect(await shownOf("app/AGENTS.md")).toBeWithin(6_000, 7_000);
  expect(await shownOf("NOTES.md")).toBeLessThan(200);
});

test("data, addresses, summaries, invalid names and images that are not shown are put in words", async () => {
  const messages: TaskMessage[] = [
    {
      role: "user",
      parts: [
        { type: "data", data: { a: 1 } },
        { type: "url", url: "https://a.example/", name: "A" },
      ],
    },
    { role: "summary", text: "S" },
    { role: "assistant", text: "x", toolCalls: [{ id: "b", name: "", arguments: "{}" }] },
    result("b"),
    { role: "assistant", text: "x", toolCalls: [{ id: "a", name: `my tool.${"n".repeat(80)}`, arguments: "{}" }] },
    withImages(picture("one")),
  ];
  const blind = await toModelMessages(messages, { ...seeing, vision: false });
  expect(blind).toMatchObject([
    { parts: [text('Data:\n{"a":1}'), text("[file A at https://a.example/]")] },
    { parts: [text("Summary of the work so far:\nS")] },
    { toolCalls: [{ id: "b", name: "unnamed", arguments: "{}" }] },
    { callId: "b", text: "b" },
    { toolCalls: [{ id: "a", name: `my_tool_${"n".repeat(56)}`, arguments: "{}" }] },
    { callId: "a", text: expect.stringContaining("The image is not shown to you") },
  ]);
  expect((await toModelMessages(messages, seeing)).at(-1)).toMatchObject({ text: "a" });
});
