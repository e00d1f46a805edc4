import { expect, test } from "bun:test";
import type { ReadEvent } from "manyhands/internal/core/events/events";
import type { ChatRequest } from "manyhands/internal/models/chat/chat-protocol";
import { badAgentForTest } from "manyhands/internal/testing/a2a/bad-agent";
import { flowEvents, flowForTest } from "manyhands/internal/testing/flow";
import type { ScriptedReply } from "manyhands/internal/testing/models/scripted-model";
import { marksOf, plan, plannerForTest, promptOf, revision } from "../testing/planner.ts";
import { planning } from "./planning.ts";

const says = (text: string) => () => ({ text });
const echoes = (request: ChatRequest) => ({ text: promptOf(request) });
const asks = (events: readonly ReadEvent[]) =>
  events.flatMap((event) =>
    event.type === "agent-asked"
      ? [
          `${event.agent}: ${/Your step: (.*)/.exec(event.parts.map((part) => (part.type === "text" ? part.text : "")).join())?.[1]}`,
        ]
      : [],
  );
const outcomes = (events: readonly ReadEvent[]) =>
  flowEvents(events, "step-ended").map(({ step, outcome }) => `${step} ${outcome}`);
const artifacts = (events: readonly ReadEvent[], name: string) =>
  events.flatMap((event) => (event.type === "artifact-added" && event.name === name ? [event.parts] : []));
const textIn = (parts: ReturnType<typeof artifacts>[number] | undefined) =>
  parts?.map((part) => (part.type === "text" ? part.text : "")).join("") ?? "";
const refusal = { calls: [{ name: "terminate", args: { status: "failure", summary: "the road is closed" } }] };
const writes = (path: string, text: string) => (_: ChatRequest, n: number) =>
  n % 2 === 0
    ? { calls: [{ name: "str_replace_editor", args: { command: "create", path, file_text: text } }] }
    : { text: `wrote ${path}` };

test("the agents a plan names carry it out: each step sees the results it depends on, and the answer is written from the results", async () => {
  let evidence = "";
  await using flow = await flowForTest(planning, {
    agents: { maps: says("the pass is open"), hotels: says("a room is free"), writer: echoes },
    model: plannerForTest({
      plans: [
        plan(
          { id: "way", text: "Find the way", agent: "maps", expected: "whether the pass is open" },
          { id: "bed", text: "Find a bed", agent: "HOTELS" },
          { id: "tell", text: "Write the letter", agent: "writer", depends_on: ["way"], expected: "a letter" },
        ),
      ],
      report: (text) => {
        evidence = text;
        return { text: "maps: open; hotels: free" };
      },
    }),
  });
  const { record, events, answer } = await flow.run({ text: "Plan the trip" });
  expect(record.status).toBe("completed");
  expect(answer).toBe("maps: open; hotels: free");
  expect(asks(events).slice(0, 2).sort()).toEqual(["hotels: Find a bed", "maps: Find the way"]);
  const letter = (record.output as { data: { steps: { answer: string }[] } }).data.steps[2]?.answer ?? "";
  expect(letter).toContain("the pass is open");
  expect(letter).toContain("It is done when: a letter");
  expect(letter).not.toContain("a room is free");
  expect(letter).not.toContain("Find a bed");
  expect(evidence).toContain("Step bed by hotels, completed: Find a bed\n<report>\na room is free\n</report>");
  expect(marksOf(events)[0]).toBe(" Find the way| Find a bed| Write the letter");
  expect(marksOf(events).at(-1)).toBe("✓Find the way|✓Find a bed|✓Write the letter");
  expect(artifacts(events, "plan.md").map(textIn)).toEqual(flowEvents(events, "plan-changed").map(({ text }) => text));
  expect(textIn(artifacts(events, "plan.md").at(-1))).toContain("Progress: 3/3 steps completed (100.0%)");
  expect(events.filter((event) => event.type === "artifact-added").at(-1)).toMatchObject({ name: "answer" });
});

test("independent steps run at the same time, as many as allowed", async () => {
  const agents = { one: () => ({ text: "done", delayMs: 150 }) };
  const steps = ["a", "b", "c"].map((id) => ({ id, text: `Do ${id}`, agent: "one" }));
  await using flow = await flowForTest(planning, {
    agents,
    model: plannerForTest({ plans: [plan(...steps), plan(...steps)] }),
  });
  const most = (events: readonly ReadEvent[]) => {
    let open = 0;
    return Math.max(
      ...events.map(({ type }) => {
        if (type === "agent-asked") open++;
        if (type === "agent-answered") open--;
        return open;
      }),
    );
  };
  expect(most((await flow.run({ text: "Go" })).events)).toBe(3);
  expect(most((await flow.run({ text: "Go", options: { concurrency: 2 } })).events)).toBe(2);
});

test("for a plan of one step the agent's answer is the answer: the model only plans and checks", async () => {
  await using flow = await flowForTest(planning, {
    agents: { one: says("42") },
    model: plannerForTest({ plans: [plan({ text: "Count", agent: "one", expected: "a number" })] }),
  });
  expect((await flow.run({ text: "Count" })).answer).toBe("42");
  expect(flow.model.requests).toHaveLength(2);
});

test("the planner corrects a plan that cannot be carried out, given what is wrong", async () => {
  const told: string[] = [];
  const hear = (reply: ReturnType<typeof plan>) => (text: string) => {
    told.push(text);
    return reply;
  };
  await using flow = await flowForTest(planning, {
    agents: { one: says("done") },
    model: plannerForTest({
      plans: [
        hear(plan({ id: "a", text: "A", agent: "nobody", depends_on: ["z"] })),
        hear(
          plan(
            { id: "a", text: "A", agent: "one", depends_on: ["b"] },
            { id: "b", text: "B", agent: "one", depends_on: ["a"] },
          ),
        ),
        hear(plan({ id: "a", text: "A", agent: "ONE" })),
      ],
    }),
  });
  const { record, events } = await flow.run({ text: "Go" });
  expect(record.status).toBe("completed");
  expect(told[1]).toContain(
    'Step a: there is no agent "nobody"; there are one.\nStep a depends on z, which no step is.',
  );
  expect(told[2]).toContain("The steps a, b wait for each other");
  expect(asks(events)).toEqual(["one: A"]);
});

test("or the plan is rejected before any agent is asked", async () => {
  await using flow = await flowForTest(planning, {
    agents: { one: says("done") },
    model: plannerForTest({ plans: Array(3).fill(plan({ text: "A", agent: "nobody" })) }),
  });
  const { record } = await flow.run({ text: "Go" });
  expect(record.error).toMatchObject({ code: "rejected", message: expect.stringContaining('no agent "nobody"') });
  expect(await flow.agent("one").tasks()).toEqual([]);
});

test("a step whose result is not as expected is tried again with the reason, in the same conversation", async () => {
  await using flow = await flowForTest(planning, {
    agents: { one: (request, n) => ({ text: n === 0 ? "I will look" : `now 42 ${promptOf(request)}` }) },
    model: plannerForTest({
      plans: [plan({ text: "Count", agent: "one", expected: "a number" })],
      check: (text) =>
        text.includes("now 42")
          ? { verdict: "met", evidence: "now 42", reason: "a number" }
          : { verdict: "not_met", evidence: "", reason: "there is no number" },
    }),
  });
  const { events, answer } = await flow.run({ text: "Go" });
  expect(outcomes(events)).toEqual(["1 failed", "1 completed"]);
  expect(answer).toContain("An earlier attempt did not do it: there is no number");
  const tasks = await flow.agent("one").tasks();
  expect(tasks.map(({ contextId }) => contextId)).toEqual(Array(2).fill(tasks[0]?.contextId ?? ""));
  expect(marksOf(events)).toEqual([" Count", "→Count", "→Count", "✓Count"]);
});

test("the files of a step's attempts are one result, checked, passed on and returned together, the newest of each name", async () => {
  const files = [
    ["module.txt", "a module"],
    ["tests.txt", "its tests"],
  ] as const;
  await using flow = await flowForTest(planning, {
    agents: {
      one: (_, n) => {
        const [path, file_text] = files[n < 2 ? 0 : 1];
        if (n % 2 === 1) return { text: `wrote ${path}` };
        return { calls: [{ name: "str_replace_editor", args: { command: "create", path, file_text } }] };
      },
      two: says("read"),
    },
    model: plannerForTest({
      plans: [
        plan(
          { id: "make", text: "Make it", agent: "one", expected: "module.txt, tests.txt" },
          { id: "use", text: "Use it", agent: "two", depends_on: ["make"] },
        ),
      ],
      check: (text) => {
        const isWhole = text.includes("Use it") || (text.includes("a module") && text.includes("its tests"));
        return { verdict: isWhole ? "met" : "not_met", evidence: isWhole ? "both" : "", reason: "tests" };
      },
    }),
  });
  const { events } = await flow.run({ text: "Go" });
  expect(outcomes(events)).toEqual(["make failed", "make completed", "use completed"]);
  const given = events.flatMap((event) => (event.type === "agent-asked" && event.agent === "two" ? event.parts : []));
  const names = ["module.txt", "tests.txt"];
  expect(given.flatMap((part) => (part.type === "file" ? [part.name] : []))).toEqual(names);
  for (const name of names) expect(artifacts(events, name)).toHaveLength(1);
});

test("the check sees those of the files given to a step that the step names", async () => {
  let checked = "";
  await using flow = await flowForTest(planning, {
    agents: { one: says("Anna: 3") },
    model: plannerForTest({
      plans: [plan({ text: "Count", agent: "one", expected: "a number for each name in names.csv" })],
      check: (text) => {
        checked = text;
        return { verdict: "met", evidence: "Anna: 3", reason: "all" };
      },
    }),
  });
  const file = async (name: string, text: string) =>
    ({ type: "file", ...(await flow.artifacts.put(new TextEncoder().encode(text), { name })) }) as const;
  await flow.run({ text: "Go", files: [await file("names.csv", "Anna"), await file("other.csv", "unseen")] });
  expect(checked).toContain('<given name="names.csv" bytes="4">\nAnna\n</given>');
  expect(checked).not.toContain("unseen");
});

test("a completed step needs evidence: a verdict without it is sent back", async () => {
  let asked = 0;
  const check = () => ({ verdict: "met", evidence: asked++ === 0 ? "" : "it says 42", reason: "fine" });
  await using flow = await flowForTest(planning, {
    agents: { one: says("42") },
    model: plannerForTest({ plans: [plan({ text: "Count", agent: "one", expected: "a number" })], check }),
  });
  const { events } = await flow.run({ text: "Go" });
  expect(flowEvents(events, "step-ended")).toContainEqual(expect.objectContaining({ evidence: "it says 42" }));
  expect(asked).toBe(2);
});

test("a step without an expected result is checked against its own text: a promise does not complete it", async () => {
  const checked: string[] = [];
  const check = (text: string) => {
    checked.push(text);
    const isDone = text.includes("counted: 42");
    return { verdict: isDone ? "met" : "not_met", evidence: isDone ? "42" : "", reason: "nothing was counted" };
  };
  await using flow = await flowForTest(planning, {
    agents: { one: (_, n) => ({ text: n === 0 ? "I will count them" : "counted: 42" }) },
    model: plannerForTest({ plans: [plan({ text: "Count", agent: "one" })], check }),
  });
  const { events } = await flow.run({ text: "Go" });
  expect(checked[0]).toContain("The step: Count\n\nExpected: what the step says");
  expect(outcomes(events)).toEqual(["1 failed", "1 completed"]);
});

test("a planner that only talks, calls another tool or writes broken JSON is asked again, and its next plan is carried out", async () => {
  const broken = { calls: [{ name: "planning", args: '{"command": "create", "steps": [' }] };
  const starts: readonly ScriptedReply[][] = [
    [{ text: "Gladly! First I would look at the map." }, { calls: [{ name: "planning", args: { command: "list" } }] }],
    [broken, { calls: [{ name: "terminate", args: { status: "success" } }] }],
    [{ text: "" }, { calls: [{ name: "planning", args: { command: "create", title: "Trip", steps: [] } }] }],
  ];
  for (const start of starts) {
    await using flow = await flowForTest(planning, {
      agents: { one: says("done") },
      model: plannerForTest({ plans: [...start, plan({ text: "A", agent: "one" })] }),
    });
    const { record, events } = await flow.run({ text: "Go" });
    expect([record.status, asks(events)]).toEqual(["completed", ["one: A"]]);
  }
});

test("a step's prompt does not grow with the number of earlier steps: it has the results it depends on, cut if they are long", async () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  const sizes = new Map<string, number>();
  const talks = (name: string) => (request: ChatRequest) => {
    sizes.set(name, JSON.stringify(request.messages).length);
    return { text: `${name} says ${"much ".repeat(10_000)}` };
  };
  await using flow = await flowForTest(planning, {
    agents: Object.fromEntries(names.map((name) => [name, talks(name)])),
    model: plannerForTest({
      plans: [
        plan(
          ...names.map((agent, index) => ({
            id: agent,
            text: `Do ${agent}`,
            agent,
            depends_on: names.slice(Math.max(0, index - 1), index),
          })),
        ),
      ],
    }),
  });
  const { record, events } = await flow.run({ text: "Go" });
  expect(record.status).toBe("completed");
  expect(sizes.get("f")).toBeLessThan(1.01 * (sizes.get("b") ?? 0));
  expect(sizes.get("f")).toBeLessThan(25_000);
  const told = events.flatMap((event) => (event.type === "agent-asked" && event.agent === "f" ? [event.parts] : []));
  expect(textIn(told[0])).toContain("e says much");
  expect(textIn(told[0])).not.toContain("d says much");
});

test("a step continues in the conversation of the same agent's earlier step, with its open state; at most one step continues each", async () => {
  await using flow = await flowForTest(planning, {
    agents: { web: (request) => ({ text: `I remember ${request.messages.length}` }), writer: says("written") },
    model: plannerForTest({
      plans: [
        plan(
          { id: "open", text: "Log in", agent: "web" },
          { id: "other", text: "Look elsewhere", agent: "web" },
          { id: "fill", text: "Fill in the form", agent: "web", depends_on: ["open"] },
          { id: "read", text: "Read the page", agent: "web", depends_on: ["open"] },
          { id: "write", text: "Write", agent: "writer", depends_on: ["open"] },
          { id: "send", text: "Send the form", agent: "web", depends_on: ["write", "fill"] },
        ),
      ],
    }),
  });
  const { record, events } = await flow.run({ text: "Go" });
  expect(record.status).toBe("completed");
  const steps = (record.output as { data: { steps: { id: string; taskId: string }[] } }).data.steps;
  const conversations = new Map(
    events.flatMap((event) => (event.type === "agent-accepted" ? [[event.taskId, event.contextId]] : [])),
  );
  const [open, other, fill, read, , send] = steps.map(({ taskId }) => conversations.get(taskId));
  expect([fill, send]).toEqual([open, open]);
  expect(new Set([open, other, read]).size).toBe(3);
});

test("a step whose agent reached a limit has failed, with that as the reason", async () => {
  const again = { calls: [{ name: "str_replace_editor", args: { command: "view", path: "." } }] };
  await using flow = await flowForTest(planning, {
    agents: { one: () => again },
    model: plannerForTest({ plans: [plan({ text: "Count", agent: "one" })] }),
  });
  const { record, events } = await flow.run({ text: "Go", budget: { steps: 2 }, options: { attempts: 1, replans: 0 } });
  expect(outcomes(events)).toEqual(["1 failed"]);
  expect(marksOf(events).at(-1)).toBe("!Count");
  expect(record.error).toMatchObject({ code: "task_failed", message: expect.stringContaining("this task's limit") });
});

test("after a failure the rest is replanned, finished steps stay, and steps that depend on the failed one, even indirectly, are blocked", async () => {
  let failures = "";
  await using flow = await flowForTest(planning, {
    agents: { maps: says("the pass is open"), bad: () => refusal, good: says("by bus") },
    model: plannerForTest({
      plans: [
        plan(
          { id: "1", text: "Find the way", agent: "maps" },
          { id: "2", text: "Find a car", agent: "bad", depends_on: [1] },
          { id: "3", text: "Drive", agent: "good", depends_on: [2] },
          { id: "5", text: "Park", agent: "good", depends_on: [3] },
        ),
        (text) => {
          failures = text;
          return revision("continue", { id: "4", text: "Take the bus", agent: "good", depends_on: ["1"] });
        },
      ],
      report: (text) => ({ text: text.includes("by bus") ? "went by bus" : "lost" }),
    }),
  });
  const { record, events, answer } = await flow.run({ text: "Get there", options: { attempts: 1 } });
  expect(record.status).toBe("completed");
  expect(answer).toBe("went by bus");
  expect(outcomes(events)).toEqual(["1 completed", "2 failed", "3 blocked", "5 blocked", "4 completed"]);
  expect(failures).toContain("<report>\nthe road is closed\n</report>\nWhy it is not done: bad failed");
  expect(marksOf(events).at(-1)).toBe("✓Find the way|✓Take the bus");
  expect(marksOf(events)).toContain("✓Find the way|!Find a car|!Drive|!Park");
  expect(await flow.agent("maps").tasks()).toHaveLength(1);
});

test("a plan that cannot be completed fails the task with a report, and the results are kept", async () => {
  await using flow = await flowForTest(planning, {
    agents: { good: says("half"), bad: () => refusal },
    model: plannerForTest({
      plans: [
        plan({ id: "1", text: "A", agent: "good" }, { id: "2", text: "B", agent: "bad" }),
        revision("continue", { id: "3", text: "B again", agent: "bad" }),
      ],
      report: () => ({ text: "good did half; B was not done" }),
    }),
  });
  const { record, events } = await flow.run({ text: "Go", options: { attempts: 2, replans: 1 } });
  expect(record.error).toMatchObject({
    code: "task_failed",
    message: expect.stringContaining("Step 3 (bad): bad failed"),
  });
  expect(textIn(artifacts(events, "partial-answer").at(-1))).toBe("good did half; B was not done");
  expect(artifacts(events, "answer")).toEqual([]);
  expect(await flow.agent("good").tasks()).toHaveLength(1);
  expect(await flow.agent("bad").tasks()).toHaveLength(4);
});

test("an agent that reports an obstacle is not asked for the same step again", async () => {
  await using flow = await flowForTest(planning, {
    agents: { one: says("I have no password") },
    model: plannerForTest({
      plans: [plan({ text: "Log in", agent: "one", expected: "logged in" }), revision("impossible")],
      check: () => ({ verdict: "blocked", evidence: "", reason: "there is no password" }),
    }),
  });
  const { record, events } = await flow.run({ text: "Go", options: { attempts: 3 } });
  expect(outcomes(events)).toEqual(["1 blocked"]);
  expect(record.error?.message).toBe("The task was not done. because impossible");
});

test("a step's files go to the steps that depend on it and to the caller; unrelated files with one name are both kept", async () => {
  await using flow = await flowForTest(planning, {
    agents: { one: writes("report.md", "# One"), two: writes("report.md", "# Two"), reader: echoes },
    model: plannerForTest({
      plans: [
        plan(
          { id: "a", text: "Write", agent: "one" },
          { id: "b", text: "Write too", agent: "two" },
          { id: "c", text: "Read", agent: "reader", depends_on: ["a"] },
        ),
      ],
    }),
  });
  const { record, events } = await flow.run({ text: "Go" });
  const read = (record.output as { data: { steps: { answer: string }[] } }).data.steps[2]?.answer;
  expect(read).toContain("report.md");
  const contentOf = async (name: string) => {
    const [file] = artifacts(events, name).at(-1) ?? [];
    return file?.type === "file" ? (await flow.artifacts.get(file.sha256))?.text() : undefined;
  };
  expect([await contentOf("report.md"), await contentOf("b/report.md")]).toEqual(["# One", "# Two"]);
});

const revises = (_: ChatRequest, n: number): ScriptedReply => {
  const args = { command: "str_replace", path: "report.md", old_str: "# Draft", new_str: "# Final" };
  return n === 0 ? { calls: [{ name: "str_replace_editor", args }] } : { text: "revised" };
};

test("if a later step changes an earlier step's file, the later version is passed on", async () => {
  await using flow = await flowForTest(planning, {
    agents: { one: writes("report.md", "# Draft"), two: revises },
    model: plannerForTest({
      plans: [
        plan({ id: "a", text: "Write", agent: "one" }, { id: "b", text: "Revise", agent: "two", depends_on: ["a"] }),
      ],
    }),
  });
  const { events } = await flow.run({ text: "Go" });
  const [file] = artifacts(events, "report.md").at(-1) ?? [];
  expect(file?.type === "file" && (await (await flow.artifacts.get(file.sha256))?.text())).toBe("# Final");
  expect(artifacts(events, "b/report.md")).toEqual([]);
});

test("a person approves the plan first, edits it, says what should be different, or stops it", async () => {
  const both = plan({ id: "1", text: "A", agent: "one" }, { id: "2", text: "B", agent: "two", depends_on: ["1"] });
  const asWished = (text: string) =>
    plan({ text: text.includes("let two do all of it") ? "All" : "Nothing", agent: "two" });
  await using flow = await flowForTest(planning, {
    agents: { one: says("1"), two: says("2") },
    model: plannerForTest({ plans: [both, both, both, asWished, both] }),
  });
  const start = () => flow.start({ text: "Go", options: { approve: true } });
  const approved = await start();
  expect(await flow.event(approved, "question-asked")).toMatchObject({
    kind: "approval",
    question: expect.stringContaining("1. [one] A\n2. [two] B (after 1)"),
  });
  await flow.say(approved, "yes");
  await flow.until(approved, "completed");

  const edited = await start();
  await flow.event(edited, "question-asked");
  await flow.say(edited, "1. [nobody] A");
  expect(await flow.event(edited, "question-asked", 2)).toMatchObject({
    question: expect.stringContaining('Step 1: there is no agent "nobody"'),
  });
  await flow.say(edited, "[two] Only this => a 2");
  await flow.until(edited, "completed");
  expect(asks(await flow.events(edited))).toEqual(["two: Only this"]);

  const changed = await start();
  await flow.event(changed, "question-asked");
  await flow.say(changed, "let two do all of it");
  expect(await flow.event(changed, "question-asked", 2)).toMatchObject({
    question: expect.stringContaining("1. [two] All"),
  });
  await flow.say(changed, "ok");
  await flow.until(changed, "completed");
  const [ask] = (await flow.events(changed)).filter((event) => event.type === "agent-asked");
  expect(JSON.stringify(ask)).toContain("Go\\n\\nThe user said of a first plan for it:\\nlet two do all of it");

  const stopped = await start();
  await flow.event(stopped, "question-asked");
  await flow.say(stopped, "no");
  expect((await flow.until(stopped, "failed")).error).toEqual({
    code: "rejected",
    message: "The plan was not approved.",
  });
  expect(asks(await flow.events(stopped))).toEqual([]);
});

test("a message sent before the plan was shown does not approve it, and is not lost", async () => {
  await using flow = await flowForTest(planning, {
    agents: { one: says("1") },
    model: plannerForTest({
      plans: [
        { ...plan({ text: "A", agent: "one" }), delayMs: 200 },
        (text) => revision(text.includes("The user added:\nyes") ? "enough" : "impossible"),
      ],
    }),
  });
  const id = await flow.start({ text: "Go", options: { approve: true } });
  await flow.event(id, "message-heard");
  await flow.say(id, "yes");
  await flow.event(id, "question-asked");
  expect(await flow.agent("one").tasks()).toEqual([]);
  await flow.say(id, "go");
  expect((await flow.until(id, "completed", "failed")).status).toBe("completed");
});

test("messages from the caller while steps are running enter the plan", async () => {
  await using flow = await flowForTest(planning, {
    agents: { one: (_, n) => ({ text: `part ${n}`, delayMs: 200 }) },
    model: plannerForTest({
      plans: [
        plan({ text: "A", agent: "one" }),
        (text) =>
          text.includes("and in French")
            ? revision("continue", { text: "Translate", agent: "one", depends_on: [1] })
            : revision("enough"),
      ],
      report: (text) => ({ text: text.includes("and in French") ? "fini" : "done" }),
    }),
  });
  const id = await flow.start({ text: "Go" });
  await flow.event(id, "agent-accepted");
  await flow.say(id, "and in French");
  expect((await flow.until(id, "completed")).output).toMatchObject({ answer: "fini" });
  expect(outcomes(await flow.events(id))).toEqual(["1 completed", "2 completed"]);
});

test("every file the task names belongs to a step: a plan that omits one is sent back, and a step that does not return it is not done", async () => {
  const task = "Read in.csv and https://a.example/b.md, write report.md and totals.csv.";
  const prompts: string[] = [];
  const write = { id: "w", text: "Write report.md from in.csv", agent: "one" };
  const draft = (reply: ReturnType<typeof plan>) => (text: string) => {
    prompts.push(text);
    return reply;
  };
  await using flow = await flowForTest(planning, {
    agents: {
      // Its agent is told once of the file that is missing, and ends again.
      one(request, n) {
        if (n === 2) return { text: "That is all." };
        return n < 2 ? writes("report.md", "all")(request, n) : writes("out/totals.csv", "1")(request, n - 3);
      },
    },
    model: plannerForTest({
      plans: [draft(plan(write)), draft(plan({ ...write, delivers: ["report.md", "totals.csv (sums)"] }))],
    }),
  });
  const csv = await flow.artifacts.put(new TextEncoder().encode("a\n1\n"), { name: "in.csv" });
  const { events, record } = await flow.run({ text: task, files: [{ type: "file", ...csv }] });
  expect(prompts[1]).toContain("The task names totals.csv, which no step delivers or uses.");
  expect(outcomes(events)).toEqual(["w failed", "w completed"]);
  expect(flowEvents(events, "step-ended")[0]).toMatchObject({
    reason: "totals.csv was not handed over as a file.",
  });
  expect(flowEvents(events, "plan-changed").at(-1)?.steps[0]).toMatchObject({
    delivers: ["report.md", "totals.csv (sums)"],
  });
  expect(record.status).toBe("completed");
  const checks = flow.model.requests.map(({ body }) => promptOf(body)).filter((text) => text.includes("<report>"));
  expect(checks).toHaveLength(1);
  expect(checks[0]).toContain(`everything that the whole task asks for is expected:\n${task}`);
});

test("at the end the results are checked against the whole task: missing ones are planned for, or the task fails and names them", async () => {
  const lost = [{ what: "the invoice number", reason: "no step looked it up" }];
  const steps = [
    { id: "a", text: "Draw", agent: "one" },
    { id: "b", text: "Write", agent: "one" },
  ];
  const revised: string[] = [];
  const spec = {
    plans: [
      plan(...steps),
      (text: string) => {
        revised.push(text);
        return revision("continue", { id: "c", text: "Look it up", agent: "one" });
      },
    ],
    missing: (text: string) => (text.includes("Step c by one, completed") ? [] : lost),
  };
  await using flow = await flowForTest(planning, { agents: { one: says("done") }, model: plannerForTest(spec) });
  const { record, events } = await flow.run({ text: "Draw, write, and name the invoice number" });
  expect(record.status).toBe("completed");
  expect(revised[0]).toContain("no step delivered:\n- the invoice number: no step looked it up");
  // The first two begin together.
  const [first = "", second = "", ...later] = asks(events);
  expect([[first, second].toSorted(), later]).toEqual([["one: Draw", "one: Write"], ["one: Look it up"]]);

  for (const options of [{ replans: 0 }, { replans: 1 }]) {
    await using other = await flowForTest(planning, {
      agents: { one: says("done") },
      model: plannerForTest({ plans: [plan(...steps), revision("enough")], missing: () => lost }),
    });
    const { record: failed, events: told } = await other.run({ text: "Go", options });
    expect(failed.error).toMatchObject({
      code: "task_failed",
      message: "The task was not done. Missing: the invoice number: no step looked it up",
    });
    expect(told.filter(({ type }) => type === "artifact-added").at(-1)).toMatchObject({ name: "partial-answer" });
  }

  await using enough = await flowForTest(planning, {
    agents: { one: () => refusal },
    model: plannerForTest({ plans: [plan(...steps), revision("enough")], missing: () => lost }),
  });
  const { record: claimed } = await enough.run({ text: "Go", options: { attempts: 1 } });
  expect(claimed.error?.message).toContain("Missing: the invoice number");
});

test("a canceled flow ends at once, even if steps wait for others or for a slot, and no agent continues", async () => {
  await using flow = await flowForTest(planning, {
    agents: { slow: () => ({ text: "late", delayMs: 600_000 }), other: says("not asked") },
    model: plannerForTest({
      plans: [
        plan(
          { id: "a", text: "A", agent: "slow" },
          { id: "b", text: "B", agent: "other" },
          { id: "c", text: "C", agent: "other", depends_on: ["a"] },
        ),
      ],
    }),
  });
  const id = await flow.start({ text: "Go", options: { concurrency: 1 } });
  await flow.event(id, "agent-accepted");
  const before = performance.now();
  await flow.engine.cancel(id);
  await flow.until(id, "canceled");
  // A body that does not end by itself is abandoned after five seconds.
  expect(performance.now() - before).toBeLessThan(4_900);
  expect(await flow.agent("other").tasks()).toEqual([]);
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(10))
    if ((await flow.agent("slow").tasks()).every(({ status }) => status === "canceled")) return;
  throw new Error("the agent still works");
});

test("a later task of the conversation knows what was done before it, and has its files", async () => {
  const planned: string[] = [];
  const hear = (text: string) => {
    planned.push(text);
    return plan({ text: "Write", agent: "one" });
  };
  await using flow = await flowForTest(planning, {
    agents: { one: writes("report.md", "# One") },
    model: plannerForTest({ plans: [hear, hear] }),
  });
  await flow.run({ text: "Write a report" });
  expect((await flow.run({ text: "Now in French" })).record.status).toBe("completed");
  expect(planned[0]).not.toContain("Earlier in this conversation");
  expect(planned[1]).toContain("Asked: Write a report\nAnswered: wrote report.md\n\nNow:\nNow in French");
  expect(planned[1]).toContain(
    'for every step:\n- report.md (text/markdown, 5 bytes)\n<file name="report.md">\n# One\n</file>',
  );
});

test("a limit that is reached ends the flow with the limit's name and the results so far", async () => {
  await using flow = await flowForTest(planning, {
    agents: { one: says("found") },
    limits: { asks: 1 },
    model: plannerForTest({
      plans: [plan({ id: "1", text: "A", agent: "one" }, { id: "2", text: "B", agent: "one", depends_on: ["1"] })],
    }),
  });
  const { record, events } = await flow.run({ text: "Go" });
  expect(record.error?.code).toBe("step_limit");
  expect(textIn(artifacts(events, "partial-answer").at(-1))).toContain("found");
  expect(marksOf(events).at(-1)).toBe("✓A|!B");
});

test("an agent of another system, which may forget its conversations, is told all that a step needs in each of them", async () => {
  using stranger = badAgentForTest(
    {},
    {
      SendMessage: (_, n) => ({
        message: { messageId: `r${n}`, contextId: "k1", role: "ROLE_AGENT", parts: [{ text: `report ${n}` }] },
      }),
    },
  );
  const steps = [
    { id: "1", text: "Measure it", agent: "stranger" },
    { id: "2", text: "Draw it", agent: "stranger", depends_on: ["1"] },
  ];
  await using flow = await flowForTest(planning, {
    agents: { stranger: [] },
    entries: { stranger: { url: stranger.url } },
    model: plannerForTest({ plans: [plan(...steps)] }),
  });
  const { record } = await flow.run({ text: "Survey the hill" });
  expect(record.status).toBe("completed");
  const [, second] = stranger.calls.filter(({ method }) => method === "SendMessage");
  expect(second?.params.message.contextId).toBe("k1");
  for (const told of ["Your step: Draw it", "Survey the hill", "report 1"])
    expect(second?.params.message.parts[0].text).toContain(told);
});

test("a worker that claims what it did not do does not pass: who checks sees the calls by the record", async () => {
  const checked: string[] = [];
  const writing = { command: "create", path: "tests.log", file_text: "12 passed" };
  await using flow = await flowForTest(planning, {
    agents: {
      one: [
        { text: "I ran all tests: 12 passed." },
        { calls: [{ name: "str_replace_editor", args: writing }] },
        { text: "I wrote tests.log: 12 passed." },
      ],
    },
    model: plannerForTest({
      plans: [plan({ text: "Run the tests", agent: "one", expected: "that they pass" })],
      check(text) {
        checked.push(text);
        return text.includes("No tool was called")
          ? { verdict: "not_met", evidence: "", reason: "nothing was run" }
          : { verdict: "met", evidence: "12 passed", reason: "it was run" };
      },
    }),
  });
  const { record, events } = await flow.run({ text: "Do the tests pass?" });
  expect(record.status).toBe("completed");
  expect(outcomes(events)).toEqual(["1 failed", "1 completed"]);
  expect(checked[0]).toContain("No file was handed over.");
  expect(checked[1]).toContain('<calls>\nstr_replace_editor {"command":"create","path":"tests.log"');
  expect(checked[1]).toContain('<file name="tests.log" bytes="9">');
});
