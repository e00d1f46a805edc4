import { expect, test } from "bun:test";
import { userMessage } from "./user-message.ts";

test.each([
  ["Go.", [{ type: "text", text: "Go." }]],
  ["", [{ type: "text", text: "" }]],
  [{ text: "" }, [{ type: "text", text: "" }]],
  [{ data: 0 }, [{ type: "data", data: 0 }]],
  [{ data: null }, [{ type: "data", data: null }]],
  [{}, []],
])("%j is said as %j", (said, parts) => {
  expect(userMessage("m", said as never, {})).toEqual({ messageId: "m", parts: parts as never });
});

test("words come first, then data, then every file, by its content or its address", () => {
  const files = [
    { name: "a.txt", mediaType: "text/plain", bytes: Buffer.from("é").toString("base64") },
    { url: "https://a.example/x", name: "x" },
  ];
  expect(userMessage("m", { files, data: [1], text: "Go." } as never, { agents: ["swe"] })).toEqual({
    messageId: "m",
    parts: [
      { type: "text", text: "Go." },
      { type: "data", data: [1] },
      { type: "bytes", name: "a.txt", mediaType: "text/plain", bytes: Buffer.from("é") },
      { type: "url", url: "https://a.example/x", name: "x" },
    ] as never,
    metadata: { "manyhands/flow": { agents: ["swe"] } },
  });
});
