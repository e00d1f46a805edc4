import { expect, test } from "bun:test";
import { AgentCard } from "@a2a-js/sdk";
import { bearerCredentials } from "manyhands/internal/a2a/client/credentials";
import { cardOf } from "manyhands/internal/testing/a2a/card";
import { connectAgent } from "./a2a-agent-client.ts";

/**
 * A server that shows a card, lists two tasks and has files, and remembers what it was asked and
 * with which token.
 */
function serve() {
  const asked: string[] = [];
  let url = "";
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      asked.push(`${pathname}${search} ${request.headers.get("authorization")}`);
      if (pathname.startsWith("/.well-known/")) return Response.json(AgentCard.toJSON(cardOf("Agent", url)));
      if (pathname !== "/tasks") return new Response("content");
      const task = (id: string) => ({ id, contextId: "c", status: { state: "TASK_STATE_COMPLETED" } });
      return Response.json({ tasks: ["t1", "t2"].map(task) });
    },
  });
  url = `http://127.0.0.1:${server.port}`;
  return { url, asked, [Symbol.asyncDispose]: () => server.stop(true) };
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

test("only as many tasks are requested as needed", async () => {
  await using agent = serve();
  const client = await connectAgent(agent.url, undefined);
  expect((await client.list({ limit: 7, signal })).map(({ id, state }) => `${id} ${state}`)).toEqual([
    "t1 completed",
    "t2 completed",
  ]);
  expect(agent.asked.at(-1)).toBe("/tasks?pageSize=7 null");
});
