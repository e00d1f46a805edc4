import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TaskState } from "@a2a-js/sdk";
import { freePort } from "manyhands/internal/http/free-port";
import {
  type ModelScript,
  type ScriptedModel,
  startScriptedModel,
} from "manyhands/internal/testing/models/scripted-model";
import { artifactBytes, sendBySdk } from "../e2e/sdk-client.ts";
import { type AgentServer, startAgent } from "../servers/manus-server.ts";

let home: string;
let model: ScriptedModel;
let agent: AgentServer;

/** Writes a table with Python and counts its rows, in one turn. */
const countingScript: ModelScript = (request) => {
  const [, counted] = request.messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
  if (counted !== undefined)
    return { calls: [{ name: "terminate", args: { status: "success", summary: counted.split("\n")[2] ?? "" } }] };
  const code = "import time; time.sleep(1); open('orders.csv', 'a').write('west,1\\nwest,2\\n')";
  return {
    calls: [
      { name: "python_execute", args: { code } },
      { name: "sql_query", args: { sql: "SELECT count(*) AS rows FROM 'orders.csv'" } },
    ],
  };
};

/** Describes, sums up, charts and reports; the answer is made from the tools' results. */
const script: ModelScript = (request, ...rest) => {
  if (JSON.stringify(request.messages).includes("Count the orders")) return countingScript(request, ...rest);
  const results = request.messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
  const turns = [
    { name: "describe_data", args: { path: "orders.csv" } },
    {
      name: "sql_query",
      args: {
        sql: "COPY (SELECT region, sum(amount) AS \"Revenue (EUR)\" FROM 'orders.csv' GROUP BY ALL ORDER BY 2 DESC) TO 'by_region.csv'",
      },
    },
    { name: "sql_query", args: { sql: "FROM 'by_region.csv'" } },
    {
      name: "data_visualization",
      args: { charts: [{ csvFilePath: "by_region.csv", chartTitle: "Revenue by region" }], output_type: "png" },
    },
    {
      name: "write_report",
      args: { title: "Orders", markdown: "North leads.\n\n![Chart](visualization/by_region.png)" },
    },
  ];
  const next = turns[results.length];
  if (next) return { calls: [next] };
  const best = /north \| (\d+)/.exec(results[2] ?? "")?.[1] ?? "unknown";
  return { calls: [{ name: "terminate", args: { status: "success", summary: `North made ${best}.` } }] };
};

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-e2e-"));
  model = await startScriptedModel(script);
  agent = startAgent("data-analysis", {
    MANYHANDS_HOME: home,
    PORT: `${freePort()}`,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "scripted",
  });
  await agent.ready;
});

afterAll(async () => {
  await agent.stop();
  await model.close();
  await rm(home, { recursive: true, force: true });
});

test("a CSV sent as a file comes back as chart, findings and report", async () => {
  const csv = "region,amount\nnorth,10\nsouth,7\nnorth,32\neast,3\n";
  const task = await sendBySdk(agent.url, "Which region leads?", { "orders.csv": csv });
  expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  const bytes = (name: string) => artifactBytes(task, name);
  expect((await bytes("answer")).toString()).toBe("North made 42.");
  expect((await bytes("visualization/by_region.png")).subarray(1, 4).toString()).toBe("PNG");
  expect((await bytes("report.html")).toString()).toContain("data:image/png;base64,");
  expect((await bytes("visualization/by_region.md")).toString()).toContain("north makes up more than half");
  const chart = ["json", "md", "png"].map((extension) => `visualization/by_region.${extension}`);
  const names = task.artifacts.map(({ name }) => name).sort();
  expect(names).toEqual(["answer", "by_region.csv", "report.html", "report.md", ...chart]);
});

test("a query sees what Python wrote before it in the same turn", async () => {
  const task = await sendBySdk(agent.url, "Count the orders.", { "orders.csv": "region,amount\nnorth,10\n" });
  expect((await artifactBytes(task, "answer")).toString()).toBe("3");
});

test("the card names what it can do", async () => {
  const card = await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json();
  const { skills } = card as { skills: { id: string }[] };
  expect(skills.map(({ id }) => id)).toEqual(["query-data", "visualize-data", "report-data"]);
});
