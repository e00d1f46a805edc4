import { expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { RunDefinition } from "manyhands/internal/core/runs/run";
import { echo, startGateway } from "../testing/gateway.ts";

/** A stock client, of the newest revision or of 2025, with or without a person to ask. */
async function connect(url: string, { mode, person }: { mode: "auto" | "legacy"; person?: string }) {
  const capabilities = person === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client({ name: "test", version: "1" }, { capabilities, versionNegotiation: { mode } });
  if (person !== undefined)
    client.setRequestHandler("elicitation/create", () => ({ action: "accept" as const, content: { answer: person } }));
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  return client;
}

const resultText = (result: { content?: unknown }) => (result.content as { text: string }[])[0]?.text;

for (const mode of ["auto", "legacy"] as const) {
  test(`a stock client (${mode}) lists and calls a flow, with progress, and sees the same run`, async () => {
    await using gateway = await startGateway();
    const client = await connect(gateway.url, { mode });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["echo", "run_status", "run_answer", "run_cancel"]);
    const told: (string | undefined)[] = [];
    const result = await client.callTool(
      { name: "echo", arguments: { task: "hello", files: [{ name: "a.txt", text: "A" }] } },
      { onprogress: ({ message }) => void told.push(message) },
    );
    expect(resultText(result)).toBe("hello");
    expect(result.structuredContent).toMatchObject({ name: "echo", status: "completed" });
    expect(result.content).toMatchObject([{}, { type: "resource_link", name: "a.txt", mimeType: "text/plain" }]);
    await client.close();
  });

  test(`an unknown tool is the client's error, wrong arguments give a result that says what is wrong (${mode})`, async () => {
    await using gateway = await startGateway();
    const client = await connect(gateway.url, { mode });
    const unknown = client.callTool({ name: "nothing", arguments: { task: "x" } });
    await expect(unknown).rejects.toThrow("Known: echo");
    const wrong = await client.callTool({ name: "echo", arguments: { tasks: "x" } });
    expect([wrong.isError, resultText(wrong)]).toEqual([true, expect.stringContaining("task")]);
    const failed = await client.callTool({ name: "echo", arguments: { task: "fail" } });
    expect([failed.isError, resultText(failed)]).toEqual([
      true,
      expect.stringContaining("It was told to fail. (task_failed)"),
    ]);
    await client.close();
  });
}

for (const mode of ["auto", "legacy"] as const)
  test(`a question goes to the person at the client, and their answer to the run (${mode})`, async () => {
    await using gateway = await startGateway();
    const client = await connect(gateway.url, { mode, person: "yes" });
    const result = await client.callTool({ name: "echo", arguments: { task: "ask me" } });
    expect(result.structuredContent).toMatchObject({ status: "completed", answer: "ask me" });
    const runs = JSON.parse(await (await fetch(`${gateway.url}/runs`)).text());
    expect(runs.total).toBe(1);
    await client.close();
  });

test("a client without elicitation gets the question as a result, and answers it with a tool", async () => {
  await using gateway = await startGateway();
  const client = await connect(gateway.url, { mode: "legacy" });
  const asked = await client.callTool({ name: "echo", arguments: { task: "ask me" } });
  const { id } = asked.structuredContent as { id: string };
  expect(resultText(asked)).toContain(`The run ${id} asks: Really?`);
  const answered = await client.callTool({ name: "run_answer", arguments: { run_id: id, answer: "yes" } });
  expect(answered.structuredContent).toMatchObject({ id, status: "completed" });
  await client.close();
});

test("a run outlives the wait for it, and tools show and cancel it", async () => {
  await using gateway = await startGateway();
  const client = await connect(gateway.url, { mode: "auto" });
  const begun = await client.callTool({ name: "echo", arguments: { task: "sleep", wait_seconds: 0 } });
  const { id } = begun.structuredContent as { id: string };
  const seen = await client.callTool({ name: "run_status", arguments: { run_id: id } });
  expect(resultText(seen)).toContain("goes on");
  const ended = await client.callTool({ name: "run_cancel", arguments: { run_id: id } });
  expect(ended.structuredContent).toMatchObject({ status: "canceled" });
  await client.close();
});

for (const mode of ["auto", "legacy"] as const)
  test(`a call that its client cancels also cancels its run (${mode})`, async () => {
    await using gateway = await startGateway();
    const client = await connect(gateway.url, { mode });
    const gone = new AbortController();
    const calling = client.callTool({ name: "echo", arguments: { task: "sleep" } }, { signal: gone.signal });
    const status = async () => JSON.parse(await (await fetch(`${gateway.url}/runs`)).text()).runs[0]?.status;
    while ((await status()) === undefined) await Bun.sleep(5);
    gone.abort();
    await expect(calling).rejects.toThrow();
    while ((await status()) !== "canceled") await Bun.sleep(5);
    await client.close();
  });

test("if a 2025 client leaves while its call runs, the run continues to its end", async () => {
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<null>()];
  const execute: RunDefinition["execute"] = (run) =>
    run.step("work", ({ signal }) => {
      signal.addEventListener("abort", () => end.reject(signal.reason));
      begun.resolve();
      return end.promise;
    });
  const runnable = { ...echo, name: "long", kind: "long", title: "Long" };
  await using gateway = await startGateway({ flows: [{ runnable, execute }] });
  const client = await connect(gateway.url, { mode: "legacy" });
  const calling = client.callTool({ name: "long", arguments: { task: "work" } });
  calling.catch(() => undefined);
  await begun.promise;
  // Ends the session at the server, as its client's absence does.
  await (client.transport as StreamableHTTPClientTransport).terminateSession();
  await client.close();
  const status = async () => JSON.parse(await (await fetch(`${gateway.url}/runs`)).text()).runs[0]?.status;
  for (let looks = 0; looks < 50; looks++) expect(await status()).toBe("running");
  end.resolve(null);
  while ((await status()) === "running") await Bun.sleep(5);
  expect(await status()).toBe("completed");
  expect(calling).rejects.toThrow();
});

test("another caller's run is unknown, and without the token nothing is revealed", async () => {
  await using gateway = await startGateway({ token: "secret" });
  const response = await fetch(`${gateway.url}/mcp`, { method: "POST", body: "{}" });
  expect(response.status).toBe(401);
});

test("output_schema is the schema of the answer, which comes as data and as text", async () => {
  await using gateway = await startGateway();
  const client = await connect(gateway.url, { mode: "auto" });
  const output_schema = { type: "object", properties: { total: { type: "number" } } };
  const result = await client.callTool({ name: "echo", arguments: { task: "hello", output_schema } });
  expect(result.structuredContent).toMatchObject({ answer: "hello", data: output_schema });
  expect(resultText(result)).toBe(`hello\n\n${JSON.stringify(output_schema)}`);
  const wrong = await client.callTool({ name: "echo", arguments: { task: "hello", output_schema: { type: "x" } } });
  expect([wrong.isError, resultText(wrong)]).toEqual([true, expect.stringContaining("outputSchema")]);
  await client.close();
});

test("a file is sent as text or as bytes, never as both or neither", async () => {
  await using gateway = await startGateway();
  const client = await connect(gateway.url, { mode: "auto" });
  for (const file of [{ name: "a.txt" }, { name: "a.txt", text: "A", bytes: "QQ==" }]) {
    const result = await client.callTool({ name: "echo", arguments: { task: "hello", files: [file] } });
    expect([result.isError, resultText(result)]).toEqual([true, expect.stringContaining("either text or bytes")]);
  }
  await client.close();
});
