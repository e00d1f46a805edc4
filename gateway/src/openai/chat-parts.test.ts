import { expect, test } from "bun:test";
import { chatParts } from "./chat-parts.ts";
import { type ChatMessage, chatRequest, messageText, outputSchemaOf } from "./chat-request.ts";

const said = (role: ChatMessage["role"], content: ChatMessage["content"]): ChatMessage => ({ role, content });
const text = (value: string) => ({ type: "text", text: value }) as const;
const image = (url: string) => ({ type: "image_url", image_url: { url } }) as const;
const file = (data: string, filename?: string) =>
  ({ type: "file", file: { file_data: data, ...(filename !== undefined && { filename }) } }) as const;
const hi = Buffer.from("hi").toString("base64");

test("a run that does not know the chat is told what came before, without what was empty", () => {
  const chat = [
    said("system", "Be brief."),
    said("user", "One?"),
    said("assistant", ""),
    said("assistant", "1"),
    said("user", "Two?"),
    said("assistant", "later"),
  ];
  const before = ["What was said before:", "system: Be brief.", "user: One?", "assistant: 1", "", "Now:", "Two?"];
  expect(chatParts(chat, false)).toEqual([text(before.join("\n"))]);
  expect(chatParts(chat, true)).toEqual([text("Two?")]);
  expect(chatParts([said("user", "Two?")], false)).toEqual([text("Two?")]);
  expect(() => chatParts([said("system", "Be brief.")], false)).toThrow("there is no user message to answer");
});

test.each([
  [image(`data:image/png;base64,${hi}`), { name: "image.png", mediaType: "image/png" }],
  [image(`data:image/svg+xml;base64,${hi}`), { name: "image.svg", mediaType: "image/svg+xml" }],
  [file(`data:text/csv;charset=utf-8;base64,${hi}`, "a.txt"), { name: "a.txt", mediaType: "text/csv" }],
  [file(`data:text/csv;base64,${hi}`), { name: "file.csv", mediaType: "text/csv" }],
  [file(`data:;base64,${hi}`, "a"), { name: "a.octet", mediaType: "application/octet-stream" }],
])("%j becomes the file %j", (part, about) => {
  expect(chatParts([said("user", [part])], true)).toEqual([{ type: "bytes", bytes: Buffer.from("hi"), ...about }]);
});

test("a link stays a link, words come first, and nothing else is a file", () => {
  const link = image("https://a.example/x.png");
  expect(chatParts([said("user", [link, text("What"), text("is it?")])], true)).toEqual([
    text("What\nis it?"),
    { type: "url", url: "https://a.example/x.png" },
  ]);
  for (const source of ["file:///etc/passwd", "ftp://a.example/x", "data:text/plain,hi", "x"])
    expect(() => chatParts([said("user", [file(source)])], true)).toThrow(
      "must be a base64 data URL or an http(s) URL",
    );
});

test.each([
  ["!!", undefined],
  ["aGk=?", undefined],
  ["aGkgd", undefined],
  ["aGk%", undefined],
  ["aGk", "hi"],
  ["aGk%3D", "hi"],
  ["aG\nk=", "hi"],
  ["8J-YgA", "😀"],
  ["", ""],
])("the content %j of a data URL is read as %j, never in part", (content, read) => {
  const parts = () => chatParts([said("user", [image(`data:image/png;base64,${content}`)])], true);
  if (read === undefined) expect(parts).toThrow("the base64 of a data URL is not valid");
  else expect(parts().map((part) => ("bytes" in part ? Buffer.from(part.bytes).toString() : ""))).toEqual([read]);
});

test("a message's text is its words, one line per part", () => {
  expect(
    [said("user", null), said("user", []), said("user", [text("a"), image("x"), text("b")])].map(messageText),
  ).toEqual(["", "", "a\nb"]);
});

const request = (over: object) => chatRequest.safeParse({ model: "m", messages: [said("user", "hi")], ...over });

test.each([
  [{}, undefined],
  [{ response_format: null }, undefined],
  [{ response_format: { type: "text" } }, undefined],
  [{ response_format: { type: "json_object" } }, { type: "object" }],
  [{ response_format: { type: "json_schema", json_schema: { schema: { type: "array" } } } }, { type: "array" }],
])("the answer to %j has the schema %j", (over, schema) => {
  expect(outputSchemaOf(request(over).data as never)).toEqual(schema as never);
});

test("what a client may leave out may be null or empty, and what would be ignored is refused", () => {
  for (const fine of [{ tools: [] }, { tools: null }, { functions: [] }, { n: 1 }, { n: null }, { user: "x" }])
    expect([fine, request(fine).success]).toEqual([fine, true]);
  for (const not of [{ tools: [{}] }, { functions: [{}] }, { n: 2 }, { messages: [] }, { model: "" }])
    expect([not, request(not).success]).toEqual([not, false]);
});

test.each([
  { messages: [{ content: "hi" }] },
  { messages: [{ role: "robot", content: "hi" }] },
  { messages: [{ role: "user", content: 1 }] },
  { messages: [{ role: "user", content: [{ type: "text" }] }] },
  { messages: [{ role: "user", content: [{ type: "audio", text: "x" }] }] },
  { messages: [{ role: "user", content: [{ type: "image_url", image_url: "https://a.example/x" }] }] },
  { messages: [{ role: "user", content: [{ type: "image_url", image_url: {} }] }] },
  { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "" } }] }] },
  { messages: [{ role: "user", content: [{ type: "file" }] }] },
  { messages: [{ role: "user", content: [{ type: "file", file: { file_data: "" } }] }] },
  { messages: [{ role: "user", content: [file("x", "")] }] },
  { messages: [{ role: "user", content: [file("x", "y".repeat(256))] }] },
  { messages: [{ role: "user", content: [{ type: "file", file: { filename: 1, file_data: "x" } }] }] },
  { messages: Array(2_001).fill(said("user", "hi")) },
  { model: "m".repeat(201) },
  { model: 1 },
  { stream: "yes" },
  { stream_options: true },
  { stream_options: { include_usage: "yes" } },
  { response_format: "json" },
  { response_format: { type: "xml" } },
  { response_format: { type: "json_schema" } },
  { response_format: { type: "json_schema", json_schema: {} } },
  { response_format: { type: "json_schema", json_schema: { schema: "object" } } },
])("a request that is not of this API is refused: %j", (over) => {
  expect(request(over).success).toBe(false);
});

test("a request at the limits of this API is taken", () => {
  const largest = { model: "m".repeat(200), messages: Array(2_000).fill(said("user", [file("x", "y".repeat(255))])) };
  expect(request(largest).success).toBe(true);
  const least = { messages: [said("user", [image("x"), file("x"), text("")]), said("tool", null)], stream_options: {} };
  expect(request({ ...least, stream: null }).success).toBe(true);
});
