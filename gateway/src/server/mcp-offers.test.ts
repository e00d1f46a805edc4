import { expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { startGateway } from "../testing/gateway.ts";

async function connect(url: string, mode: "auto" | "legacy", capabilities: object = {}): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { capabilities, versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  return client;
}

for (const mode of ["auto", "legacy"] as const) {
  test(`the runs and their files are resources (${mode})`, async () => {
    await using gateway = await startGateway();
    const client = await connect(gateway.url, mode);
    const files = [
      { name: "a b.txt", text: "A\u00e4" },
      { name: "dot.png", bytes: "iVBORwAB" },
    ];
    const { structuredContent, content } = await client.callTool({ name: "echo", arguments: { task: "hello", files } });
    const { id } = structuredContent as { id: string };
    const links = (content as { type: string; uri: string }[]).flatMap(({ type, uri }) =>
      type === "resource_link" ? [uri] : [],
    );
    const run = `manyhands://runs/${id}`;
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([run, ...links]);
    expect(resources[1]).toMatchObject({ name: "a b.txt", size: 3, description: "hello" });
    const read = async (uri = "") => (await client.readResource({ uri })).contents[0];
    expect(await read(run)).toMatchObject({ text: expect.stringContaining('"answer": "hello"') });
    expect(await read(links[0])).toMatchObject({ mimeType: expect.stringMatching(/^text\/plain/), text: "A\u00e4" });
    expect(await read(links[1])).toMatchObject({ mimeType: "image/png", blob: "iVBORwAB" });
    const artifact = `${gateway.url}/artifacts/${"0".repeat(64)}/x`;
    for (const uri of ["file:///etc/passwd", "manyhands://runs/none", artifact, "x"])
      await expect(read(uri)).rejects.toMatchObject({ code: -32602, data: { uri } });
    const elsewhere = async () => await client.request({ method: "resources/list", params: { cursor: "nowhere" } });
    await expect(elsewhere()).rejects.toThrow("(invalid_input)");
    const { resourceTemplates } = await client.listResourceTemplates();
    const ref = { type: "ref/resource", uri: resourceTemplates[0]?.uriTemplate ?? "" } as const;
    const { completion } = await client.complete({ ref, argument: { name: "run", value: id.slice(0, 4) } });
    expect(completion.values).toEqual([id]);
    await client.close();
  });

  test(`every flow is a prompt, which asks for its task if it has none (${mode})`, async () => {
    await using gateway = await startGateway();
    const client = await connect(gateway.url, mode, { elicitation: { form: {} } });
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { task: "dance" } }));
    const { prompts } = await client.listPrompts();
    expect(prompts).toMatchObject([
      { name: "echo", arguments: [{ name: "task", required: true }, { name: "agents" }] },
    ]);
    const got = await client.getPrompt({ name: "echo", arguments: { task: "sing" } });
    expect(JSON.stringify(got.messages)).toContain("sing");
    expect(JSON.stringify((await client.getPrompt({ name: "echo" })).messages)).toContain("dance");
    await expect(client.getPrompt({ name: "nothing" })).rejects.toMatchObject({ code: -32602 });
    await client.close();
  });
}

test("a client of a 2025 revision that subscribes to a run is notified of its changes", async () => {
  await using gateway = await startGateway();
  const client = await connect(gateway.url, "legacy");
  const begun = await client.callTool({ name: "echo", arguments: { task: "sleep", wait_seconds: 0 } });
  const { id } = begun.structuredContent as { id: string };
  const uri = `manyhands://runs/${id}`;
  const { promise: told, resolve } = Promise.withResolvers<string>();
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => resolve(params.uri));
  await client.subscribeResource({ uri });
  await client.callTool({ name: "run_cancel", arguments: { run_id: id } });
  expect(await told).toBe(uri);
  await client.unsubscribeResource({ uri });
  await expect(client.subscribeResource({ uri: "manyhands://runs/none" })).rejects.toMatchObject({ code: -32602 });
  await client.close();
});
