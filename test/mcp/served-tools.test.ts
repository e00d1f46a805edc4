import { afterAll, beforeAll, expect, test } from "bun:test";
import { createKeyedQueue } from "manyhands/internal/core/async/keyed-queue";
import { createStrReplaceEditor } from "manyhands/internal/tools/files/str-replace-editor";
import { connectTo, resultText, runs, type ServedAgent, startServedAgent } from "./served-agent.ts";

let agent: ServedAgent;

beforeAll(async () => {
  agent = await startServedAgent('serve_mcp = true\napprove = ["python_execute"]');
});

afterAll(() => agent[Symbol.asyncDispose]());

for (const mode of ["auto", "legacy"] as const) {
  test(`a stock client (${mode}) sees the agent's tools with their exact schemas, and the agent as one tool`, async () => {
    const client = await connectTo(agent.url, { mode });
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    for (const name of ["bash", "python_execute", "str_replace_editor", "web_search", "manus", "run_status"])
      expect(names).toContain(name);
    for (const name of ["ask_human", "delegate", "terminate", "find_tools"]) expect(names).not.toContain(name);
    const editor = createStrReplaceEditor(createKeyedQueue());
    const listed = tools.find(({ name }) => name === editor.name);
    expect(listed?.inputSchema).toEqual(editor.inputSchema as never);
    expect(listed?.description).toBe(editor.description);
    expect(listed?.inputSchema.properties?.command).toMatchObject({ enum: expect.arrayContaining(["view", "create"]) });
    await client.close();
  });

  test(`tools work in one workspace of the caller, in the sandbox (${mode})`, async () => {
    const client = await connectTo(agent.url, { mode, headers: { "Manyhands-Context": `c-${mode}` } });
    const created = { command: "create", path: "a.txt", file_text: `from ${mode}` };
    expect((await client.callTool({ name: "str_replace_editor", arguments: created })).isError).toBeFalsy();
    const read = await client.callTool({ name: "bash", arguments: { command: "cat a.txt; cat /etc/shadow" } });
    expect(resultText(read)).toContain(`from ${mode}`);
    expect(resultText(read)).not.toContain("root:");
    const other = await connectTo(agent.url, { mode });
    expect(resultText(await other.callTool({ name: "bash", arguments: { command: "ls" } }))).not.toContain("a.txt");
    await other.close();
    await client.close();
  });

  test(`wrong arguments give a result that says what is wrong, an unknown tool is the client's error (${mode})`, async () => {
    const client = await connectTo(agent.url, { mode });
    const wrong = await client.callTool({ name: "str_replace_editor", arguments: { command: "destroy", path: "a" } });
    expect([wrong.isError, resultText(wrong)]).toEqual([true, expect.stringContaining("command")]);
    const hidden = client.callTool({ name: "terminate", arguments: { status: "success" } });
    await expect(hidden).rejects.toThrow("Unknown tool: terminate");
    await client.close();
  });

  test(`the agent itself takes a task, and answers when it is done (${mode})`, async () => {
    const client = await connectTo(agent.url, { mode });
    const result = await client.callTool({ name: "manus", arguments: { task: "Say done." } });
    expect(resultText(result)).toBe("done");
    expect(result.structuredContent).toMatchObject({ name: "manus", status: "completed" });
    await client.close();
  });
}

const guarded = { name: "python_execute", arguments: { code: "print(6 * 7)" } };

test("a call that needs a decision is put to the person at the client, and made only with their yes", async () => {
  const yes = await connectTo(agent.url, { mode: "auto", allow: true });
  expect(resultText(await yes.callTool(guarded))).toContain("42");
  await yes.close();
  const no = await connectTo(agent.url, { mode: "auto", allow: false });
  const refused = await no.callTool(guarded);
  expect([refused.isError, resultText(refused)]).toEqual([true, expect.stringContaining("did not allow")]);
  await no.close();
});

for (const mode of ["auto", "legacy"] as const)
  test(`if nobody can be asked, such a call is refused with advice (${mode})`, async () => {
    const client = await connectTo(agent.url, { mode });
    const refused = await client.callTool(guarded);
    expect([refused.isError, resultText(refused)]).toEqual([
      true,
      expect.stringContaining("Give the agent the whole task"),
    ]);
    await client.close();
  });

for (const mode of ["auto", "legacy"] as const)
  test(`a call that its client cancels ends what it started (${mode})`, async () => {
    const client = await connectTo(agent.url, { mode });
    const gone = new AbortController();
    const command = `sleep ${mode === "auto" ? 61 : 62}.${process.pid}`;
    const calling = client.callTool({ name: "bash", arguments: { command } }, { signal: gone.signal });
    calling.catch(() => undefined);
    while (!(await runs(command))) await Bun.sleep(10);
    gone.abort();
    await expect(calling).rejects.toThrow();
    while (await runs(command)) await Bun.sleep(10);
    expect(resultText(await client.callTool({ name: "bash", arguments: { command: "echo back" } }))).toContain("back");
    await client.close();
  });

test("a person at a client of a 2025 revision is asked in the middle of the call", async () => {
  const yes = await connectTo(agent.url, { mode: "legacy", allow: true });
  expect(resultText(await yes.callTool(guarded))).toContain("42");
  await yes.close();
  const no = await connectTo(agent.url, { mode: "legacy", allow: false });
  expect(resultText(await no.callTool(guarded))).toContain("did not allow");
  await no.close();
});

test("serving tools is off by default, and behind the token and the guard like the rest", async () => {
  const post = (url: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/mcp`, { method: "POST", body: "{}", headers });
  expect((await post(agent.url, { Origin: "https://evil.example" })).status).toBe(403);
  await using off = await startServedAgent("port = 4101");
  expect((await post(off.url)).status).toBe(404);
  await using closed = await startServedAgent("serve_mcp = true", { MANYHANDS_TOKEN: "x".repeat(40) });
  expect((await post(closed.url)).status).toBe(401);
});

test("model usage of tools called without a run is in the server's metrics", async () => {
  const metrics = await (await fetch(new URL("/metrics", agent.url))).text();
  expect(metrics).toMatch(/^manyhands_served_tools_tokens_total\{agent="manus",direction="out"\} \d+$/m);
  expect(metrics).toMatch(/^manyhands_served_tools_usd_total\{agent="manus"\} \d/m);
});
