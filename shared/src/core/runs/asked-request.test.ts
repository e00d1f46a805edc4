import { expect, test } from "bun:test";
import type { ModelMessage, ModelRequest, ToolSpec } from "../model.ts";
import { marksAfter, type RecordedRequest, type RequestMarks, recordRequest, wholeRequest } from "./asked-request.ts";

const user = (text: string): ModelMessage => ({ role: "user", parts: [{ type: "text", text }] });
const tool = (name: string): ToolSpec => ({ name, description: `does ${name}`, inputSchema: { type: "object" } });
const image = { type: "image", mediaType: "image/png", data: Buffer.from("four").toString("base64") } as const;
const asked = {
  type: "image",
  mediaType: "image/png",
  sha256: new Bun.CryptoHasher("sha256").update("four").digest("hex"),
  size: 4,
} as const;

/**
 * A conversation that grows, is summed up, changes its tools and its settings, and shows pictures.
 */
function conversation(): readonly ModelRequest[] {
  const [system, first, second] = [{ role: "system", text: "s" } as const, user("one"), user("two")];
  const shown: ModelMessage = { role: "user", parts: [{ type: "text", text: "look" }, image] };
  const result: ModelMessage = {
    role: "tool",
    callId: "c",
    name: "see",
    text: "seen",
    isError: false,
    images: [image, image],
  };
  const plain: ModelMessage = { role: "tool", callId: "d", name: "see", text: "none", isError: true };
  const [look, move] = [tool("look"), tool("move")];
  return [
    { messages: [system, first], tools: [look], toolChoice: "auto" },
    { messages: [system, first, second], tools: [look, move], toolChoice: "required", maxOutputTokens: 0 },
    { messages: [system, first, second], tools: [look, move], toolChoice: "none", temperature: 0 },
    { messages: [system, shown, result, plain], tools: [move], toolChoice: { name: "move" } },
    { messages: [system, first, second], tools: [look, move], toolChoice: "auto" },
    { messages: [system], tools: [], toolChoice: "auto", answerSchema: { type: "string" } },
    { messages: [system, second, first, second], tools: [move, look], toolChoice: "auto" },
  ];
}

/**
 * What is recorded of them; with `restarts`, each time by a process that knows only what was
 * recorded.
 */
function recordedOf(requests: readonly ModelRequest[], restarts: boolean): readonly RecordedRequest[] {
  let last: RequestMarks | undefined;
  return requests.map((request, n) => {
    const fresh = restarts ? structuredClone(request) : request;
    const recorded: RecordedRequest = JSON.parse(JSON.stringify(recordRequest(fresh, `r${n}`, last)));
    last = marksAfter(recorded, restarts ? structuredClone(last) : last);
    return recorded;
  });
}

/** A request with its images by their content. */
const shownAs = (request: ModelRequest): unknown =>
  JSON.parse(JSON.stringify(request), (_, value) => (value?.type === "image" ? asked : value));

test.each([
  ["in one process", false],
  ["each in another process", true],
])("recorded %s, every request of a conversation is whole again, with pictures by their content", (_, restarts) => {
  const requests = conversation();
  const recorded = recordedOf(requests, restarts);
  for (const [n, request] of requests.entries())
    expect(wholeRequest(recorded, `r${n}`) as unknown).toEqual(shownAs(request));
  expect(
    recorded.map(({ messages, tools }) => [messages.keep, messages.add.length, tools.keep, tools.add.length]),
  ).toEqual([
    [0, 2, 0, 1],
    [2, 1, 1, 1],
    [3, 0, 2, 0],
    [1, 3, 0, 1],
    [1, 2, 0, 2],
    [1, 0, 0, 0],
    [1, 3, 0, 2],
  ]);
});

test("marks of another request than the one that a record builds on count for nothing", () => {
  const [first, second] = conversation();
  const one = recordRequest(first as ModelRequest, "r0");
  const marks = marksAfter(one, undefined);
  const two = recordRequest(second as ModelRequest, "r1", marks);
  const other: RequestMarks = { id: "elsewhere", messages: ["x", "y", "z"], tools: ["x"] };
  expect(marksAfter(one, other)).toMatchObject({ id: "r0", messages: one.messages.marks, tools: one.tools.marks });
  expect(other).toEqual({ id: "elsewhere", messages: ["x", "y", "z"], tools: ["x"] });
  const after = marksAfter(two, marks);
  expect(after.messages).toEqual([...one.messages.marks, ...two.messages.marks]);
});

test("a request is not shown in part: not if one that it builds on is missing, nor if they go round", () => {
  const recorded = recordedOf(conversation(), false);
  expect(wholeRequest(recorded.slice(1), "r3")).toBeUndefined();
  expect(wholeRequest(recorded, "unknown")).toBeUndefined();
  const round = recorded.map((each) => (each.id === "r0" ? { ...each, after: "r2" } : each));
  expect(wholeRequest(round, "r3")).toBeUndefined();
});
