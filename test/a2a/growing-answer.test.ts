import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { sseItems, textMessage, type Wire } from "./rpc.ts";

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
});
afterAll(() => server.stop());

async function streamed(method: string, params: object, headers: Record<string, string>): Promise<Wire[]> {
  const response = await fetch(server.url, {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    headers: { "Content-Type": "application/json", ...headers },
  });
  return (await Array.fromAsync(sseItems(response))).map(({ data }) => (data as Wire).result);
}

type Chunk = { artifact: Wire; append?: boolean; lastChunk?: boolean };

/** The text of an artifact after each of its chunks, as a reader puts it together. */
function growth(chunks: readonly Chunk[]): string[] {
  let text = "";
  return chunks.map(({ artifact, append = false }) => {
    const piece = artifact.parts.map((part: Wire) => part.text).join("");
    text = append ? text + piece : piece;
    return text;
  });
}

function expectGrown(chunks: readonly Chunk[]): void {
  expect(new Set(chunks.map(({ artifact }) => artifact.artifactId)).size).toBe(1);
  expect(growth(chunks)).toEqual(["", "a", "ab", "abc", "", "a b c"]);
  expect(chunks.map(({ append = false }) => append)).toEqual([false, true, true, true, false, false]);
  expect(chunks.map(({ lastChunk = false }) => lastChunk)).toEqual([false, false, false, false, false, true]);
  expect(chunks.at(-1)?.artifact.name).toBe("answer");
}

test("a plain reader of 1.0 sees the answer grow, emptied when it was none, and whole as its last chunk", async () => {
  const items = await streamed("SendStreamingMessage", textMessage("draft a b c"), { "A2A-Version": "1.0" });
  expectGrown(items.flatMap(({ artifactUpdate }) => artifactUpdate ?? []));
});

test("a plain reader of 0.3 sees the same", async () => {
  const parts = [{ kind: "text", text: "draft a b c" }];
  const message = { kind: "message", messageId: crypto.randomUUID(), role: "user", parts };
  const items = await streamed("message/stream", { message }, {});
  expectGrown(items.filter(({ kind }) => kind === "artifact-update"));
});

test("a reader of the journal gets progress instead, and the answer once", async () => {
  const headers = { "A2A-Version": "1.0", "A2A-Extensions": "urn:manyhands:journal:1" };
  const items = await streamed("SendStreamingMessage", textMessage("draft a b c"), headers);
  expect(items.flatMap(({ artifactUpdate }) => artifactUpdate ?? [])).toHaveLength(1);
});

for (const [how, last] of [
  ["thought", ["abc"]],
  ["asks", []],
] as const) {
  test(`what another agent wrote before it went on is emptied as well: ${how}`, async () => {
    const items = await streamed("SendStreamingMessage", textMessage(`relay abc, ${how}`), { "A2A-Version": "1.0" });
    const chunks = items.flatMap(({ artifactUpdate }) => artifactUpdate ?? []);
    expect(growth(chunks)).toEqual(["", "a", "ab", "abc", "", ...last]);
  });
}
