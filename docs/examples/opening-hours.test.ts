import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const entry = fileURLToPath(new URL("./opening-hours.ts", import.meta.url));

test("any MCP client finds the tool and calls it", async () => {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [entry] }));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["opening_hours"]);
  const { content } = await client.callTool({ name: "opening_hours", arguments: { sight: "Pantheon" } });
  expect(content).toEqual([{ type: "text", text: "9:00–19:00" }]);
  await client.close();
});
