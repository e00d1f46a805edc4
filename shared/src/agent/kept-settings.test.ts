import { expect, test } from "bun:test";
import { agentForTest } from "../testing/agent/agent.ts";
import { askHuman } from "../tools/human/ask-human.ts";
import { terminate } from "../tools/human/terminate.ts";

test("a task keeps the tool choice it started with, whatever is configured when it resumes", async () => {
  await using it = await agentForTest({
    tools: [askHuman(), terminate],
    script: [
      { calls: [{ name: "ask_human", args: { inquire: "Which?" } }] },
      { text: "text alone" },
      { calls: [{ name: "terminate", args: { status: "success", summary: "done" } }] },
    ],
    agent: { toolChoice: "required" },
  });
  const id = await it.start("go");
  await it.until(id, "waiting");
  await it.restart({ agent: { toolChoice: "auto" } });
  await it.say(id, "this");
  await it.until(id, "completed");
  expect(it.model.requests.map(({ body }) => body.tool_choice)).toEqual(["required", "required", "required"]);
});

test("a question unanswered within the task's time limit is abandoned, and its result says so", async () => {
  await using it = await agentForTest({
    tools: [askHuman()],
    script: [{ calls: [{ name: "ask_human", args: { inquire: "Which?" } }] }, { text: "without" }],
    agent: { limits: { answerMs: 200 } },
  });
  const { record, events } = await it.run("go");
  expect(record.status).toBe("completed");
  expect(events.find(({ type }) => type === "tool-ended")).toMatchObject({
    isError: true,
    text: expect.stringContaining("Nobody answered in time."),
  });
});
