import { join } from "node:path";
import type { ChatRequest } from "manyhands/internal/models/chat/chat-protocol";
import { type ScriptedReply, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { startGatewayServer } from "../servers/gateway-server.ts";
import { startManus } from "../servers/manus-server.ts";

const goal =
  "Work out the squares of the numbers from 1 to 20 and write them to squares.md. Write their sum and their mean to sum.md. Then write a report about both to report.md, in a few sentences.";

const steps = [
  { id: "1", file: "squares.md", text: "Work out the squares of 1 to 20 and write them to squares.md." },
  { id: "2", file: "sum.md", text: "Write the sum and the mean of the squares to sum.md.", depends_on: ["1"] },
  {
    id: "3",
    file: "report.md",
    text: "Write a report about the squares, their sum and their mean to report.md, in a few sentences.",
    depends_on: ["1", "2"],
  },
];

const squares = Array.from({ length: 20 }, (_, n) => (n + 1) ** 2);
const contents = [
  squares.map((square, n) => `${n + 1}: ${square}`).join("\n"),
  "The sum is 2870, the mean is 143.5.",
  "The squares of the numbers from 1 to 20 lie between 1 and 400. Their sum is 2870. Their mean is 143.5, which is more than half of the numbers reach.",
];
const reports = [
  "squares.md holds the squares of 1 to 20, one a line, from 1 to 400.",
  "The sum of the squares is 2870 and their mean is 143.5; both are in sum.md.",
  "report.md says in three sentences what the squares, their sum and their mean are.",
];

/** The planner and closer of the flow, and the agent: each step is one file and a report. */
function play({ messages, tools = [] }: ChatRequest): ScriptedReply {
  const names = tools.map((tool) => tool.function.name);
  if (!names.includes("bash")) {
    if (names.includes("check_task")) return { text: "The three files are written: the sum is 2870, the mean 143.5." };
    const drafted = steps.map(({ file, ...step }) => ({
      ...step,
      agent: "manus",
      expected: `${file} holds it`,
      delivers: [file],
    }));
    return { calls: [{ name: "planning", args: { command: "create", title: "Squares", steps: drafted } }] };
  }
  const asked = messages.findLast(({ role }) => role === "user");
  const step = steps.findIndex(({ text }) => JSON.stringify(asked).includes(`Your step: ${text}`));
  if (messages.at(-1)?.role === "tool") return { text: reports[step] ?? "" };
  const args = { command: "create", path: steps[step]?.file, file_text: contents[step] };
  return { calls: [{ name: "str_replace_editor", args }] };
}

/**
 * All requests of a planning flow whose three steps build on each other, the agent's included: with
 * the addresses of other agents that it may delegate to, or without any.
 */
export async function requestsOfFlow(
  home: string,
  environment: (url: string) => Record<string, string> & { MANYHANDS_HOME: string; PORT: string },
  others?: Readonly<Record<string, string>>,
): Promise<readonly ChatRequest[]> {
  const model = await startScriptedModel(play);
  const own = environment(model.url);
  const alone = "[agents.manus]\ndelegates = []\n";
  if (others === undefined) await Bun.write(join(own.MANYHANDS_HOME, "manyhands.toml"), alone);
  const manus = startManus({ ...own, ...others });
  await manus.ready;
  const { PORT: _, MANYHANDS_HOME: __, ...env } = environment(model.url);
  const gateway = await startGatewayServer(join(home, "gateway"), { ...env, MANUS_URL: manus.url });
  try {
    const input = { input: goal, agents: ["manus"] };
    const { status, body } = await gateway.call("/flows/planning", input, { Prefer: "wait=60" });
    if (status !== 200 || body.status !== "completed") throw new Error(JSON.stringify(body));
    return model.requests.map((exchange) => exchange.body);
  } finally {
    await Promise.all([gateway.stop(), manus.stop()]);
    await model.close();
  }
}
