import { expect, test } from "bun:test";
import { flowEvents, flowForTest } from "manyhands/internal/testing/flow";
import { plan, plannerForTest, revision } from "../testing/planner.ts";
import { planning } from "./planning.ts";

test("what the caller adds while the report is written is planned for, and the report is written anew", async () => {
  const writing = Promise.withResolvers<void>();
  await using flow = await flowForTest(planning, {
    agents: { one: (_, n) => ({ text: `part ${n}` }) },
    model: plannerForTest({
      plans: [
        plan({ text: "A", agent: "one" }, { text: "B", agent: "one" }),
        (text) =>
          text.includes("and in French")
            ? revision("continue", { text: "Translate", agent: "one", depends_on: [1] })
            : revision("enough"),
      ],
      report(text) {
        if (text.includes("and in French")) return { text: "fini" };
        writing.resolve();
        return { text: "a draft", delayMs: 1_500 };
      },
    }),
  });
  const id = await flow.start({ text: "Go" });
  await writing.promise;
  await flow.say(id, "and in French");
  expect((await flow.until(id, "completed")).output).toMatchObject({ answer: "fini" });
  const ended = flowEvents(await flow.events(id), "step-ended").map(({ step, outcome }) => `${step} ${outcome}`);
  expect(ended.sort()).toEqual(["1 completed", "2 completed", "3 completed"]);
});
