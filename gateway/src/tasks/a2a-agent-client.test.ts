import { expect, spyOn, test } from "bun:test";
import { AgentCard } from "@a2a-js/sdk";
import * as clients from "manyhands/internal/a2a/client/client";
import { bearerCredentials } from "manyhands/internal/a2a/client/credentials";
import { cardOf } from "manyhands/internal/testing/a2a/card";
import { serveCard } from "../testing/card-server.ts";
import { startGateway } from "../testing/gateway.ts";
import { connectAgent } from "./a2a-agent-client.ts";

/**
 * A server that shows a card, lists two tasks and has files, and remembers what it was asked and
 * with which token.
 */
function serve(called = (_: Request): Response | Promise<Response> => new Response("content")) {
  const asked: string[] = [];
  const versions: unknown[] = [];
  let url = "";
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      asked.push(`${pathname}${search} ${request.headers.get("authorization")}`);
      if (pathname.startsWith("/.well-known/")) return Response.json(AgentCard.toJSON(cardOf("Agent", url)));
      if (pathname !== "/tasks") return called(request);
      versions.push(request.headers.get("A2A-Version"));
      const status = { state: "TASK_STATE_COMPLETED", timestamp: "1970-01-01T00:00:01Z" };
      const history = [{ parts: [{ raw: "YQ==" }, { text: "Go" }] }, { parts: [{ text: "on" }] }];
      const tasks = [
        { id: "t1", contextId: "c", status, history },
        { id: "t2", status: { state: status.state } },
      ];
      return Response.json({ tasks });
    },
  });
  url = `http://127.0.0.1:${server.port}`;
  return { url, asked, versions, [Symbol.asyncDispose]: () => server.stop(true) };
}

const signal = AbortSignal.timeout(600_000);

test("an agent's token is sent for files on its own server, and to no other address", async () => {
  await using agent = serve();
  await using elsewhere = serve();
  const client = await connectAgent(agent.url, bearerCredentials("secret"));
  await client.file({ type: "file", sha256: "ab", name: "a b.txt", mediaType: "", size: 7 }, { signal });
  expect(agent.asked.at(-1)).toBe("/artifacts/ab/a%20b.txt Bearer secret");
  await client.file({ type: "url", url: `${elsewhere.url}/b.txt` }, { signal });
  expect(elsewhere.asked).toEqual(["/b.txt null"]);
});

test("what A2A calls a task is a run to whoever names one", async () => {
  await using gateway = await startGateway();
  const client = await connectAgent(`${gateway.url}/a2a/echo`, undefined);
  const started = await fetch(`${gateway.url}/flows/echo`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Prefer: "wait=20" },
    body: JSON.stringify({ input: "Go" }),
  });
  const { id } = (await started.json()) as { id: string };
  for (const [run, said] of [
    ["nope", "There is no run nope."],
    [id, `The run ${id} has ended.`],
  ] as const) {
    await expect(client.cancel(run, { signal })).rejects.toThrow(said);
    await expect(Array.fromAsync(client.send({ text: "More", taskId: run }, { signal }))).rejects.toThrow(said);
  }
  await expect(Array.fromAsync(client.watch("nope", { signal }))).rejects.toThrow("There is no run nope.");
});

test("an agent that cannot do something is told in its own words, whatever these are", async () => {
  const message = "This agent's trial has ended";
  await using agent = serve(() => Response.json({ jsonrpc: "2.0", id: 1, error: { code: -32004, message } }));
  const client = await connectAgent(agent.url, undefined);
  const failure = await Array.fromAsync(client.send({ text: "More", taskId: "t1" }, { signal })).catch(
    (error) => error,
  );
  expect([failure.code, failure.message]).toEqual(["unsupported", expect.stringContaining(message)]);
});

test("only as many tasks are requested as needed", async () => {
  await using agent = serve();
  const client = await connectAgent(agent.url, undefined);
  expect(await client.list({ limit: 7, signal })).toEqual([
    { id: "t1", contextId: "c", state: "completed", updatedAt: 1_000, title: "Go" },
    { id: "t2", contextId: "", state: "completed", updatedAt: 0, title: "" },
  ]);
  expect(agent.asked.at(-1)).toBe("/tasks?pageSize=7 null");
  expect(agent.versions).toEqual(["1.0"]);
});

test("a message reaches the agent's run whole, and its task is watched from its first event, and canceled", async () => {
  await using gateway = await startGateway();
  const client = await connectAgent(`${gateway.url}/a2a/echo`, undefined);
  const file = (name: string) => ({ name, mediaType: "text/plain", bytes: new TextEncoder().encode(name) });
  const outputSchema = { type: "object" };
  const message = { text: "hello", files: [file("a.txt"), file("b.txt")], contextId: "c1", budgetUsd: 0.5 };
  const items = await Array.fromAsync(client.send({ ...message, outputSchema }, { signal }));
  const [run] = (await gateway.engine.list({ limit: 1 })).runs;
  expect(run).toMatchObject({
    contextId: "c1",
    input: {
      ...{ budget: { usd: 0.5 }, outputSchema },
      message: { parts: [{ text: "hello" }, { name: "a.txt" }, { name: "b.txt" }] },
    },
  });
  expect(items.at(-1)).toMatchObject({ kind: "state", taskId: run?.id, state: "completed" });
  const watched = await Array.fromAsync(client.watch(run?.id ?? "", { signal }));
  const seqs = watched.flatMap((item) => (item.kind === "event" ? [item.seq] : []));
  expect(seqs).toEqual(Array.from({ length: run?.lastEvent ?? 0 }, (_, at) => at + 1));
  for await (const item of client.send({ text: "sleep" }, { signal })) {
    if (item.kind !== "state") continue;
    await expect(client.cancel(item.taskId, { signal: AbortSignal.abort(new Error("left")) })).rejects.toThrow("left");
    await client.cancel(item.taskId, { signal });
    expect((await gateway.engine.get(item.taskId))?.status).toBe("canceled");
    break;
  }
});

test("a file is fetched by its own name, from no other place, and one that is not there is an error", async () => {
  await using agent = serveCard("Agent");
  await using elsewhere = serve();
  const client = await connectAgent(agent.url, undefined);
  const asked: string[] = [];
  agent.answer = ({ url }) => {
    asked.push(new URL(url).pathname);
    return new Response("no", { status: 404 });
  };
  const file = { type: "file", sha256: "ab", name: "a/b?.txt", mediaType: "", size: 7 } as const;
  await expect(client.file(file, { signal })).rejects.toThrow("could not be fetched: HTTP status 404.");
  expect(asked).toEqual(["/artifacts/ab/a%2Fb%3F.txt"]);
  agent.answer = () => Response.redirect(`${elsewhere.url}/b.txt`);
  await expect(client.file(file, { signal })).rejects.toMatchObject({ code: "unavailable" });
  await expect(client.list({ limit: 1, signal })).rejects.toMatchObject({ code: "unavailable" });
  expect(elsewhere.asked).toEqual([]);
  const left = AbortSignal.abort(new Error("left"));
  await expect(client.file(file, { signal: left })).rejects.toThrow("left");
});

test("a file, or a list, that begins and never ends is an agent that did not answer in time", async () => {
  await using agent = serveCard("Agent");
  const client = await connectAgent(agent.url, undefined);
  agent.answer = () => new Response(new ReadableStream({ start: (body) => body.enqueue(Buffer.from("{")) }));
  const file = { type: "file", sha256: "ab", name: "a", mediaType: "", size: 7 } as const;
  const late = { code: "unavailable", message: expect.stringContaining("did not answer in time") };
  await expect(client.file(file, { signal: AbortSignal.timeout(200) })).rejects.toMatchObject(late);
  await expect(client.list({ limit: 1, signal: AbortSignal.timeout(200) })).rejects.toMatchObject(late);
});

test("an agent is asked where it was reached, though its card names its public address, and a hiccup is waited out", async () => {
  await using agent = serveCard("Agent");
  const publicUrl = "https://agent.example";
  const [face] = agent.card.supportedInterfaces;
  if (face === undefined) throw new Error("A card has an interface.");
  agent.card = { ...agent.card, supportedInterfaces: [{ ...face, url: face.url.replace(agent.url, publicUrl) }] };
  const card = AgentCard.toJSON(agent.card);
  let asked = 0;
  agent.answer = () => (++asked === 1 ? new Response("", { status: 503 }) : Response.json(card));
  const client = await connectAgent(agent.url, undefined, publicUrl);
  const posted: string[] = [];
  agent.answer = ({ method }) => {
    posted.push(method);
    return new Response("", { status: 404 });
  };
  await client.cancel("t", { signal }).catch(() => undefined);
  expect(posted).toContain("POST");
});

test("an agent's server is waited for while it is started again, and a file for a minute", async () => {
  await using agent = serve();
  using creating = spyOn(clients, "createA2aClient");
  const client = await connectAgent(agent.url, bearerCredentials("secret"));
  expect(creating.mock.calls[0]?.[1]).toMatchObject({ retry: { retries: 6, firstPauseMs: 250 } });
  using limits = spyOn(AbortSignal, "timeout");
  await client.file({ type: "file", sha256: "ab", name: "a.txt", mediaType: "", size: 7 }, { signal });
  expect(limits.mock.calls).toEqual([[60_000]]);
  await client.list({ limit: 1, signal });
  expect(agent.asked.at(-1)).toEndWith("Bearer secret");
});

test("an answer goes to the task that asked, and stays in it", async () => {
  await using gateway = await startGateway();
  const client = await connectAgent(`${gateway.url}/a2a/echo`, undefined);
  const asking = await Array.fromAsync(client.send({ text: "ask me" }, { signal }));
  const { taskId = "" } = asking.findLast((item) => item.kind === "state") ?? {};
  const answered = await Array.fromAsync(client.send({ text: "yes", taskId }, { signal }));
  expect(answered.at(-1)).toMatchObject({ kind: "state", taskId, state: "completed" });
  expect((await gateway.engine.list({ limit: 9 })).runs).toHaveLength(1);
});
