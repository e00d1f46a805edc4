import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { sendBySdk } from "../e2e/sdk-client.ts";
import { startAgent } from "../servers/manus-server.ts";
import { call, startPlays } from "./browser-play.ts";

test("an agent without a shell computes with a table that it was sent or downloaded, and is offered nothing for it before", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-tables-"));
  const site = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response("pos;net\n1;10,50\n2;0,25\n", {
        headers: { "content-type": "text/csv", "content-disposition": 'attachment; filename="positions.csv"' },
      }),
  });
  const sum = (file: string) => call("sql_query", { sql: `SELECT sum(net) AS net FROM '${file}'` });
  const { model, faults } = await startPlays({
    Hello: [{ text: "Hello." }],
    "Get the positions": [
      call("browser_download", { url: `${site.url}positions` }),
      sum("downloads/positions.csv"),
      { text: "10.75" },
    ],
    "Add up": [sum("sent.csv"), { text: "3" }],
  });
  const agent = startAgent("browser", {
    MANYHANDS_HOME: home,
    PORT: `${freePort()}`,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "scripted",
    MANYHANDS_EGRESS_ALLOW: `127.0.0.1:${site.port}`,
  });
  try {
    await agent.ready;
    await sendBySdk(agent.url, "Hello");
    await sendBySdk(agent.url, `Get the positions of ${site.url}positions and their sum.`);
    await sendBySdk(agent.url, "Add up sent.csv.", { "sent.csv": new TextEncoder().encode("net\n1\n2\n") });
    expect(faults).toEqual([]);
    const requests = model.requests.map(({ body }) => body);
    const offered = requests.map(({ tools = [] }) => tools.some((tool) => tool.function.name === "sql_query"));
    expect(offered).toEqual([false, false, true, true, true, true]);
    const results = [3, 5].map((at) => `${requests[at]?.messages.at(-1)?.content}`);
    expect(results[0]).toContain("10.75");
    expect(results[1]).toContain("\n3\n");
  } finally {
    await agent.stop();
    await model.close();
    await site.stop(true);
    await rm(home, { recursive: true, force: true });
  }
}, 60_000);
