import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { rpc, sseItems, textMessage, type Wire, wire } from "./rpc.ts";

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
});
afterAll(() => server.stop());

const version = { "A2A-Version": "1.0", "Content-Type": "application/json" };
const send = async (text: string, acceptedOutputModes: readonly string[], over: object = {}): Promise<Wire> =>
  (await rpc(server.url, "SendMessage", textMessage(text, over, { acceptedOutputModes }))).body;
const answerOf = ({ result }: Wire) => result.task.artifacts.at(-1).parts;

test.each([
  ["text as an image", { text: "x", mediaType: "image/png" }],
  ["text of an unknown application", { text: "x", mediaType: "application/x-unknown" }],
  ["data that is no JSON", { data: { a: 1 }, mediaType: "text/csv" }],
  ["a file of no type", { raw: "eA==", mediaType: "nonsense" }],
  ["a link of no type", { url: "https://example.com/x", mediaType: "a b/c" }],
])("%s is refused as a content type that is not supported, over every binding and by 0.3", async (_, part) => {
  const params = textMessage("", { parts: [{ text: "answer x" }, part] });
  const { body } = await rpc(server.url, "SendMessage", params);
  expect([body.error.code, body.error.data[0].reason]).toEqual([-32005, "CONTENT_TYPE_NOT_SUPPORTED"]);
  const rest = await fetch(`${server.url}/message:send`, {
    method: "POST",
    headers: version,
    body: JSON.stringify(params),
  });
  expect([rest.status, (await wire(rest)).error.details[0].reason]).toEqual([400, "CONTENT_TYPE_NOT_SUPPORTED"]);
  if (!("raw" in part)) return;
  const file = { kind: "file", file: { bytes: part.raw, mimeType: part.mediaType } };
  const message = { kind: "message", messageId: crypto.randomUUID(), role: "user", parts: [file] };
  const old = await rpc(server.url, "message/send", { message }, { headers: { "A2A-Version": "0.3" } });
  expect(old.body.error.code).toBe(-32005);
});

test("parts without a type, with an informal one and with parameters are taken", async () => {
  const parts = [
    { text: "answer x" },
    { text: "x", mediaType: "text" },
    { text: "x", mediaType: "text/markdown; charset=utf-8" },
    { text: "{}", mediaType: "application/json" },
    { data: 1, mediaType: "application/vnd.example+json" },
    { data: 1, mediaType: "data" },
    { raw: "eA==", mediaType: "application/x-unknown" },
  ];
  expect((await send("", [], { parts })).result.task.status.state).toBe("TASK_STATE_COMPLETED");
});

test.each([[["image/png"]], [["image/*", "audio/ogg"]], [["nonsense"]], [[";"]]])(
  "an agent that can make none of %p refuses the message",
  async (modes) => {
    expect((await send("answer x", modes)).error.code).toBe(-32005);
  },
);

test.each([
  [[]],
  [["text/plain"]],
  [["text"]],
  [["*/*"]],
  [["text/*", "application/json"]],
  [["image/png", "text/plain"]],
])("with %p the answer is text", async (modes) => {
  expect(answerOf(await send("answer x", modes))).toEqual([{ text: "x" }]);
});

test("where data alone is wanted the answer is a data artifact: its JSON, or else its text as a field", async () => {
  for (const modes of [["application/json"], ["data"], ["application/json; charset=utf-8", "image/png"]]) {
    expect(answerOf(await send('answer {"primes":168}', modes))).toEqual([
      { data: { primes: 168 }, mediaType: "application/json" },
    ]);
    expect(answerOf(await send("answer x", modes))).toEqual([{ data: { text: "x" }, mediaType: "application/json" }]);
  }
});

test("what was accepted holds wherever the task is read, and no text grows for a reader that wants data", async () => {
  const params = textMessage("draft a b", {}, { acceptedOutputModes: ["application/json"] });
  const response = await fetch(`${server.url}/message:stream`, {
    method: "POST",
    headers: version,
    body: JSON.stringify(params),
  });
  const items = (await Array.fromAsync(sseItems(response))).map(({ data }) => data as Wire);
  const chunks = items.flatMap(({ artifactUpdate }) => artifactUpdate ?? []);
  const wanted = [{ data: { text: "a b" }, mediaType: "application/json" }];
  expect(chunks.map(({ artifact }) => artifact.parts)).toEqual([wanted]);
  const { id } = items[0].task;
  expect((await rpc(server.url, "GetTask", { id })).body.result.artifacts.at(-1).parts).toEqual(wanted);
  const listed = await rpc(server.url, "ListTasks", { includeArtifacts: true });
  expect(listed.body.result.tasks[0].artifacts.at(-1).parts).toEqual(wanted);
});
