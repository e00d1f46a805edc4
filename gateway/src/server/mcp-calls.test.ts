import { expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { startGateway } from "../testing/gateway.ts";

type Mode = "auto" | "legacy";

/** A stock client whose requests have these headers; with `asks`, it has a person to ask. */
async function connect(url: string, { mode = "auto" as Mode, asks = false, headers = {} } = {}) {
  const capabilities = asks ? { elicitation: { form: {} } } : {};
  const client = new Client({ name: "test", version: "1" }, { capabilities, versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return client;
}

const as = (name: string) => ({ Authorization: `Bearer secret-${name}` });
const echoing = (task: string, more: object = {}) => ({ name: "echo", arguments: { task, ...more } });
const byHand = { allowInputRequired: true } as const;
const resultText = (result: { content?: unknown }) => (result.content as { text: string }[])[0]?.text;
const idOf = (result: { structuredContent?: unknown }) => (result.structuredContent as { id: string }).id;

test("a repeated call continues the run that asked, of its own caller alone", async () => {
  await using gateway = await startGateway({ token: "secret" });
  const ann = await connect(gateway.url, { asks: true, headers: as("ann") });
  const bob = await connect(gateway.url, { asks: true, headers: as("bob") });
  const asked = (await ann.callTool(echoing("ask me"), byHand)) as { requestState?: string; inputRequests?: object };
  expect(asked.inputRequests).toMatchObject({ answer: { params: { message: "Really?" } } });
  const requestState = asked.requestState ?? "";
  const inputResponses = { answer: { action: "accept" as const, content: { answer: "yes" } } };
  const repeat = (client: Client, more: object) => client.callTool({ ...echoing("ask me"), ...more } as never, byHand);
  for (const [client, state] of [
    [bob, requestState],
    [ann, "no-run"],
  ] as const)
    await expect(repeat(client, { inputResponses, requestState: state })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("names no run of yours"),
    });
  // Without an answer it is the same question still.
  expect(await repeat(ann, { requestState })).toMatchObject({ requestState, inputRequests: asked.inputRequests });
  const [runId = ""] = requestState.split("/");
  // A client that lost the result repeats its call: the run hears the answer once.
  for (let time = 0; time < 2; time++) {
    const ended = await repeat(ann, { inputResponses, requestState });
    expect(ended).toMatchObject({ structuredContent: { id: runId, status: "completed", answer: "ask me" } });
  }
  const heard = (await gateway.engine.events(runId)).filter(({ event }) => event.type === "message-received");
  expect(heard).toHaveLength(2);
  expect((await gateway.engine.list({ limit: 10 })).runs).toHaveLength(1);
  await Promise.all([ann.close(), bob.close()]);
});

test("the tools that manage runs know their caller's runs alone", async () => {
  await using gateway = await startGateway({ token: "secret" });
  const ann = await connect(gateway.url, { headers: as("ann") });
  const bob = await connect(gateway.url, { headers: as("bob") });
  const run_id = idOf(await ann.callTool(echoing("ask me")));
  for (const [name, more] of [
    ["run_status", {}],
    ["run_cancel", {}],
    ["run_answer", { answer: "yes" }],
  ] as const) {
    const result = await bob.callTool({ name, arguments: { run_id, ...more } });
    expect([name, result.isError, resultText(result)]).toEqual([name, true, expect.stringContaining("(not_found)")]);
  }
  expect(await ann.callTool({ name: "run_status", arguments: { run_id } })).toMatchObject({
    structuredContent: { status: "input-required" },
  });
  await Promise.all([ann.close(), bob.close()]);
});

test.each(["auto", "legacy"] as const)("a caller names its conversation in a header (%s)", async (mode) => {
  await using gateway = await startGateway();
  const contextOf = async (context: string) => {
    const client = await connect(gateway.url, { mode, headers: { "Manyhands-Context": context } });
    const result = await client.callTool(echoing("hello"));
    await client.close();
    return (await gateway.engine.get(idOf(result)))?.contextId;
  };
  for (const context of ["trip", "c".repeat(200)]) expect(await contextOf(context)).toBe(context);
  await expect(contextOf("c".repeat(201))).rejects.toThrow("1 to 200 characters");
});

test("a call's trace is that of its _meta, or else that of its headers", async () => {
  await using gateway = await startGateway();
  const trace = (id: string) => ({ traceparent: `00-${id.repeat(32)}-${id.repeat(16)}-01` });
  const client = await connect(gateway.url, { headers: trace("b") });
  const traceOf = async (more: object) => {
    const result = await client.callTool({ ...echoing("hello"), ...more });
    return JSON.stringify((await gateway.engine.get(idOf(result)))?.input);
  };
  expect(await traceOf({ _meta: trace("a") })).toContain("a".repeat(32));
  expect(await traceOf({})).toContain("b".repeat(32));
  await client.close();
});
