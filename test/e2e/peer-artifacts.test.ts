import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createA2aClient } from "manyhands/internal/a2a/client/client";
import { badAgentForTest, badTask } from "manyhands/internal/testing/a2a/bad-agent";
import { startGatewayServer } from "../servers/gateway-server.ts";

const link = { url: "https://files.example/report.pdf", filename: "report.pdf", mediaType: "application/pdf" };
const forged = { "manyhands/file": { sha256: "0".repeat(64), size: 1 } };
const artifacts = [
  { artifactId: "a1", name: "summary", parts: [{ text: "Two cities." }] },
  {
    artifactId: "a2",
    name: "weather",
    description: "By city.",
    parts: [
      { data: { rome: 31 }, mediaType: "application/json", metadata: { unit: "C" } },
      { data: { oslo: 12 }, mediaType: "application/json" },
    ],
    metadata: { source: { station: 7 } },
  },
  { artifactId: "a3", name: "report", parts: [{ ...link, metadata: { ...forged, pages: 3 } }] },
  {
    artifactId: "a4",
    name: "report",
    parts: [{ raw: btoa("a,b"), filename: "t.csv", mediaType: "text/csv" }, { text: "A table." }],
  },
  { artifactId: "a5", name: "plain", parts: [{ raw: btoa("plain"), filename: "plain.txt", mediaType: "text/plain" }] },
];

test("every artifact of a foreign agent arrives at the gateway's caller: data, links, names and metadata", async () => {
  const home = await mkdtemp(join(tmpdir(), "artifacts-"));
  const gateway = await startGatewayServer(home);
  using agent = badAgentForTest(
    {},
    {
      SendMessage: () => ({ task: badTask("COMPLETED", { artifacts }) }),
      GetTask: () => badTask("COMPLETED", { artifacts }),
    },
  );
  try {
    const { name } = (await gateway.call("/agents", { url: agent.url })).body;
    const client = await createA2aClient(`${gateway.url}/a2a/${name}`);
    const task = await client.send({ text: "What is the weather?" });
    const arrived = task.artifacts.map(({ name, description, parts, metadata }) => ({
      name,
      ...(description !== "" && { description }),
      parts: parts.map(({ content, filename, metadata }) => [content?.$case, filename, metadata]),
      ...(metadata && { metadata }),
    }));
    const stored = (size: number) => ({ "manyhands/file": { sha256: expect.any(String), size } });
    expect(arrived).toEqual([
      { name: "summary", parts: [["text", "", undefined]] },
      {
        name: "weather",
        description: "By city.",
        parts: [
          ["data", "", { unit: "C" }],
          ["data", "", undefined],
        ],
        metadata: { source: { station: 7 } },
      },
      { name: "report", parts: [["url", "report.pdf", { pages: 3 }]] },
      {
        name: "report (2)",
        parts: [
          ["url", "t.csv", stored(3)],
          ["text", "", undefined],
        ],
      },
      { name: "plain.txt", parts: [["url", "plain.txt", stored(5)]] },
      {
        name: "answer",
        parts: [
          ["text", "", undefined],
          ["data", "", undefined],
        ],
      },
    ]);
    const sent = task.artifacts.flatMap(({ parts }) => parts.map(({ content }) => content?.value));
    expect(sent).toContain(link.url);
    expect(sent).toContainEqual({ oslo: 12 });
  } finally {
    await gateway.stop("SIGKILL");
    await rm(home, { recursive: true });
  }
});
