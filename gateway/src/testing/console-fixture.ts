import type { Run, RunEvent } from "manyhands/internal/core/runs/run";
import type { AgentInput } from "manyhands/internal/core/runs/task";
import { askPerson } from "manyhands/internal/core/tools/question";
import { echo, type TestFlow } from "./gateway.ts";

/** What a hostile model, agent or file may say: all of it must be shown as plain text. */
export const hostile =
  '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 2"> [click](javascript:window.hacked=3) ![spy](http://spy.invalid/a.png) \u001b[31mred\u202etxt.exe';

const step = (id: string, text: string, status: string, dependsOn: string[] = [], notes = "") => ({
  id,
  text,
  agent: id === "2" ? "data-analysis" : "manus",
  dependsOn,
  expected: "",
  status,
  notes,
});

/** The plan with its first `done` steps completed and the next one in progress. */
function plan(done: number): RunEvent {
  const status = (index: number) => (index < done ? "completed" : index === done ? "in_progress" : "not_started");
  const steps = [
    step("1", "Read orders.csv and say what is in it", status(0), [], done > 0 ? "239 rows, 6 columns." : ""),
    step("2", `Compute the revenue by month ${hostile}`, status(1), ["1"]),
    step("3", "Write the report", status(2), ["1", "2"]),
  ];
  return {
    type: "plan-changed",
    note: done === 0 ? "The plan: Orders" : `Step ${done} is done`,
    data: { text: "the plan", steps },
  };
}

const answer = `# Revenue of the orders

The best month is **2026-04**, as \`report.md\` shows. See [the source](https://example.org/orders) or ${hostile}

| month | revenue |
| --- | ---: |
| 2026-04 | 9,120.10 |
| 2026-05 | 7,004.00 |

1. First, the figures were checked.
2. Then they were *written down*.

\`\`\`python
print("<b>not bold</b>")
\`\`\`
`;

/**
 * A flow that emits everything the console can show; it asks a question, and reports live progress
 * until it is answered.
 */
export const consoleFixture: TestFlow = {
  runnable: {
    ...echo,
    name: "showcase",
    kind: "showcase",
    title: "Showcase",
    description: "Shows everything the console can display.",
    options: {
      type: "object",
      properties: {
        approve: { type: "boolean", default: false, description: "Whether a person approves the plan." },
        concurrency: { type: "integer", minimum: 1, maximum: 20, default: 4, description: "Steps at the same time." },
        onFailure: { enum: ["stop", "continue"], description: "What a failure means." },
        steps: { type: "array", items: { type: "object" }, description: "The steps in order." },
      },
    },
  },
  async execute(run, input) {
    const { message } = input as AgentInput;
    tellWork(run);
    await run.step("speak", async ({ progress }) => {
      for (let n = 0; n < 5; n++) {
        progress({ type: "text-delta", text: `live word ${n} ` });
        await Bun.sleep(150);
      }
      return null;
    });
    await askPerson(run, { question: `Shall I go on?\n${hostile}`, kind: "question" });
    run.emit(plan(2));
    for (const part of message.parts) {
      if (part.type === "file")
        run.emit({ type: "artifact-added", artifactId: part.sha256, name: part.name, parts: [part] });
    }
    run.emit(plan(3));
    const parts = [{ type: "text", text: answer }];
    run.emit({ type: "artifact-added", artifactId: `${run.id}/answer`, name: "answer", parts });
    return { answer };
  },
};

function tellWork(run: Run): void {
  run.emit(plan(0));
  const about = { step: "1", agent: "manus", attempt: 1 };
  run.emit({ type: "step-assigned", note: "Step 1 goes to manus", data: { ...about, begun: true } });
  const ask = { askId: "a", agent: "manus" };
  const asked = {
    url: "http://127.0.0.1:1",
    text: `Read orders.csv ${hostile}`,
    parts: [{ type: "text", text: hostile }],
    hops: 1,
  };
  run.emit({ type: "agent-asked", ...ask, ...asked });
  run.emit({ type: "tool-started", callId: "1", name: "bash", arguments: '{"command": "head orders.csv"}' });
  const ended = {
    callId: "1",
    name: "bash",
    text: `id,day\n1,2026-04-01\n${hostile}`.repeat(9),
    isError: false,
    milliseconds: 84,
  };
  run.emit({ type: "tool-ended", ...ended });
  const usage = { tokens: 26_157, usd: 0.0314, unpriced: false };
  run.emit({ type: "agent-answered", ...ask, state: "completed", files: [], usage });
  run.emit({ type: "step-ended", note: "Step 1 is done", data: { ...about, outcome: "completed" } });
  run.emit(plan(1));
}
