import { expect, test } from "bun:test";
import { agentForTest } from "../testing/agent/agent.ts";

const names = [
  "mcp.json",
  "manyhands.toml",
  "ж".repeat(200),
  "😀".repeat(100),
  "../../etc/passwd",
  "a\nb\u202e.txt",
  ".env",
  "__proto__",
  "charts/a.png",
  "taken/a.png",
  ".git/hooks/pre-commit",
  "a/".repeat(300),
];

test("a file of any name is placed, and hurts neither the task nor what it would take effect in", async () => {
  for (const name of names) {
    await using agent = await agentForTest({ script: [{ text: "ok" }] });
    await Bun.write(await agent.workspace.resolve("taken"), "a file, no folder");
    const file = await agent.artifacts.put(new TextEncoder().encode("content"), { name: "in" });
    const { record, events } = await agent.run("Read.", { parts: [{ type: "file", ...file, name }] });
    expect([name, record.status, record.error]).toEqual([name, "completed", undefined]);
    const heard = events.flatMap((event) => (event.type === "message-heard" ? (event.parts ?? []) : []));
    const placed = heard.flatMap((part) => (part.type === "file" ? [part.name] : []))[0] ?? "";
    expect(await Bun.file(await agent.workspace.resolve(placed)).text()).toBe("content");
    if (name.startsWith("charts")) expect(placed).toBe(name);
  }
});
