import { expect, test } from "bun:test";
import { sha256Of } from "../../core/text/sha256.ts";
import type { Workspace } from "../../core/workspace.ts";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { formatPlan } from "./plan.ts";
import { planBookSchema } from "./plan-book.ts";
import { createPlanning } from "./planning.ts";

const made = { command: "create", plan_id: "p1", title: "Trip", steps: ["Book", "Pack", "Go"] };

async function setUp() {
  const place = await workspaceForTest();
  const tool = createPlanning();
  return {
    ...place,
    call: async (input: object, key?: string) =>
      (await tool.call(input, contextForTest(place.workspace, key === undefined ? {} : { key }))).text,
    result: (input: object) => tool.call(input, contextForTest(place.workspace)),
  };
}

const trip = (progress: string, ...steps: string[]) =>
  `Plan: Trip (ID: p1)\n====================\n\n${progress}\n\nSteps:\n${steps.join("\n")}\n`;

/** The plans as they are kept, where no tool can change them. */
async function plansOf({ metaRoot }: Workspace) {
  const { book } = await Bun.file(`${metaRoot}/plans.json`).json();
  return planBookSchema.parse(book);
}

test("a plan is created, marked, read and listed in the known format", async () => {
  await using place = await setUp();
  const { call } = place;
  expect(await call(made)).toBe(
    `Plan created successfully with ID: p1\n\n${trip(
      "Progress: 0/3 steps completed (0.0%)\nStatus: 0 completed, 0 in progress, 0 blocked, 3 not started",
      "0. [ ] Book",
      "1. [ ] Pack",
      "2. [ ] Go",
    )}`,
  );
  await call({ command: "mark_step", step_index: 0, step_status: "completed" });
  await call({ command: "mark_step", plan_id: "p1", step_index: 1, step_status: "blocked", step_notes: "no bag" });
  const text = trip(
    "Progress: 1/3 steps completed (33.3%)\nStatus: 1 completed, 1 in progress, 1 blocked, 0 not started",
    "0. [✓] Book",
    "1. [!] Pack",
    "   Notes: no bag",
    "2. [→] Go",
  );
  expect(await call({ command: "mark_step", step_index: 2, step_status: "in_progress" })).toBe(
    `Step 2 updated in plan 'p1'.\n\n${text}`,
  );
  expect(await call({ command: "get" })).toBe(text);
  await call({ command: "create", plan_id: "p2", title: "Other", steps: ["a"] });
  expect(await call({ command: "list" })).toBe(
    "Available plans:\n• p1: Trip - 1/3 steps completed\n• p2 (active): Other - 0/1 steps completed\n",
  );
  expect(await call({ command: "set_active", plan_id: "p1" })).toBe(`Plan 'p1' is now the active plan.\n\n${text}`);
  expect(await call({ command: "delete", plan_id: "p1" })).toBe("Plan 'p1' has been deleted.");
  expect(await call({ command: "get" })).toBe("No active plan. Please specify a plan_id or set an active plan.");
});

test("an update keeps status and notes by a step's text, wherever it moves, one step each", async () => {
  await using place = await setUp();
  const { call } = place;
  await call({ ...made, steps: ["Book", "Pack", "Pack", "Go"] });
  await call({ command: "mark_step", step_index: 0, step_status: "completed", step_notes: "done in May" });
  await call({ command: "mark_step", step_index: 1, step_status: "in_progress" });
  expect(await call({ command: "update", plan_id: "p1", steps: ["Ask", "Pack", "Book", "Pack"] })).toBe(
    `Plan updated successfully: p1\n\n${trip(
      "Progress: 1/4 steps completed (25.0%)\nStatus: 1 completed, 1 in progress, 0 blocked, 2 not started",
      "0. [ ] Ask",
      "1. [→] Pack",
      "2. [✓] Book",
      "   Notes: done in May",
      "3. [ ] Pack",
    )}`,
  );
  expect(await call({ command: "update", title: "Voyage" })).toContain("Plan: Voyage (ID: p1)");
});

test("errors use OpenManus's words", async () => {
  await using place = await setUp();
  const cases: [object, string][] = [
    [{ command: "list" }, "No plans available. Create a plan with the 'create' command."],
    [{ command: "get" }, "No active plan. Please specify a plan_id or set an active plan."],
    [{ ...made, title: "" }, "Parameter `title` is required for command: create"],
    [{ ...made, steps: [] }, "Parameter `steps` must be a non-empty list of strings for command: create"],
    [{ command: "update", title: "x" }, "No active plan. Please specify a plan_id or set an active plan."],
    [{ command: "delete" }, "Parameter `plan_id` is required for command: delete"],
    [{ command: "delete", plan_id: "p9" }, "No plan found with ID: p9"],
    [{ command: "get", plan_id: "__proto__" }, "No plan found with ID: __proto__"],
  ];
  for (const [input, text] of cases) expect(await place.call(input)).toBe(text);
  await place.call(made);
  const more: [object, string][] = [
    [made, "A plan with ID 'p1' already exists. Use 'update' to modify existing plans."],
    [{ command: "mark_step", step_status: "blocked" }, "Parameter `step_index` is required for command: mark_step"],
    [{ command: "mark_step", step_index: 0 }, "Parameter `step_status` is required for command: mark_step"],
    [
      { command: "mark_step", step_index: 3, step_status: "blocked" },
      "Invalid step_index: 3. Valid indices range from 0 to 2.",
    ],
    [
      { command: "mark_step", step_index: -1, step_status: "blocked" },
      "Invalid step_index: -1. Valid indices range from 0 to 2.",
    ],
  ];
  for (const [input, text] of more) expect(await place.result(input)).toEqual({ text, isError: true });
});

test("unknown fields, commands and statuses are refused", async () => {
  await using place = await setUp();
  await place.call(made);
  const wrong = [
    { ...made, owner: "me" },
    { command: "burn" },
    { command: "mark_step", step_index: 0, step_status: "done" },
  ];
  for (const input of wrong) expect((await place.result(input)).isError).toBe(true);
});

test("a call repeated with its key gets the same answer and is carried out once", async () => {
  await using place = await setUp();
  const nameless = { command: "create", title: "Trip", steps: ["Go"] };
  const first = await place.call(nameless, "run/1");
  expect(await place.call(nameless, "run/1")).toBe(first);
  expect(await place.call(nameless, "run/2")).not.toBe(first);
  expect((await plansOf(place.workspace)).plans).toHaveLength(2);
  // Not where tools could change it.
  const { root, metaRoot } = place.workspace;
  const there = [root, metaRoot].map((folder) => Bun.file(`${folder}/plans.json`).exists());
  expect(await Promise.all(there)).toEqual([false, true]);
});

test("plans outlive the process, and another conversation has its own", async () => {
  await using place = await setUp();
  await place.call(made);
  const again = createPlanning();
  const { home } = place;
  const same = await openWorkspace({ home, principal: "alice", contextId: "c1" });
  const other = await openWorkspace({ home, principal: "alice", contextId: "c2" });
  expect((await again.call({ command: "get" }, contextForTest(same))).text).toContain("Plan: Trip (ID: p1)");
  expect((await again.call({ command: "list" }, contextForTest(other))).text).toStartWith("No plans available.");
});

test("calls made at once all take effect", async () => {
  await using place = await setUp();
  await place.call(made);
  await Promise.all(
    [0, 1, 2].map((step_index) => place.call({ command: "mark_step", step_index, step_status: "completed" })),
  );
  expect(await place.call({ command: "get" })).toContain("Progress: 3/3 steps completed (100.0%)");
});

test("only reading commands are pure", () => {
  const tool = createPlanning();
  expect(tool.effect({ command: "list" })).toBe("pure");
  expect([tool.effect(made), tool.brings]).toEqual(["idempotent", []]);
});

test("a change of one plan leaves the others, and a step keeps its status where it was", async () => {
  await using place = await setUp();
  await place.call(made);
  await place.call({ command: "create", plan_id: "p2", title: "Other", steps: ["a", "b"] });
  await place.call({ command: "mark_step", plan_id: "p1", step_index: 1, step_status: "completed" });
  await place.call({ command: "mark_step", step_index: 0, step_notes: "soon" });
  await place.call({ command: "update", plan_id: "p1", steps: ["Book", "Pack", "Go"] });
  const { plans, active } = await plansOf(place.workspace);
  expect(active).toBe("p2");
  expect(plans.map(({ id, steps }) => [id, ...steps.map(({ status, notes }) => status + notes)])).toEqual([
    ["p1", "not_started", "completed", "not_started"],
    ["p2", "not_startedsoon", "not_started"],
  ]);
  await place.call({ command: "delete", plan_id: "p1" });
  expect(await plansOf(place.workspace)).toMatchObject({ active: "p2", plans: [{ id: "p2" }] });
  expect(plans.length).toBe(2);
});

test("the fifty newest changes are remembered, whatever is read between them", async () => {
  await using place = await setUp();
  const add = (n: number) => place.call({ ...made, plan_id: `${n}` }, `call/${n}`);
  const first = await add(0);
  for (let n = 1; n < 50; n++) {
    await add(n);
    await place.call({ command: n % 2 === 0 ? "get" : "list" }, `look/${n}`);
  }
  expect(await add(0)).toBe(first);
  await add(50);
  expect(await add(0)).toContain("A plan with ID '0' already exists");
  expect(await add(1)).toContain("Plan created successfully with ID: 1\n");
});

test("a result shows its plan whole; of one that is out of date what was done stays, or the plan's name", async () => {
  await using place = await setUp();
  const created = await place.result({ ...made, title: "Trip 𝄞" });
  const [done, plan] = created.text.split(/\n\n(?=Plan: )/);
  expect(plan).toStartWith(`Plan: Trip 𝄞 (ID: p1)\n${"=".repeat(22)}\n`);
  expect(created.shows).toEqual({
    of: "plan p1",
    whole: sha256Of(plan ?? ""),
    brief: `${done} [The plan is left out; a later result shows it.]`,
  });
  expect((await place.result({ command: "get" })).shows).toEqual({
    of: "plan p1",
    whole: sha256Of(plan ?? ""),
    brief: "Plan: Trip 𝄞 (ID: p1) [The plan is left out; a later result shows it.]",
  });
  expect((await place.result({ command: "list" })).shows).toBeUndefined();
  expect(formatPlan({ id: "p", title: "Empty", steps: [] })).toContain("Progress: 0/0 steps completed (0%)");
});

test("what a model fills in with nothing is left out, and a step says something", async () => {
  await using place = await setUp();
  const { call } = place;
  const [, id = ""] = /with ID: (plan_[0-9a-f]{8})\n/.exec(await call({ ...made, plan_id: "" })) ?? [];
  expect(id).not.toBe("");
  await call({ command: "mark_step", step_index: 0, step_status: "completed", step_notes: "in May" });
  await call({ command: "mark_step", step_index: 1, step_status: "completed" });
  await call({ command: "mark_step", step_index: 2, step_status: "in_progress" });
  expect(
    await call({ command: "mark_step", plan_id: "", step_index: 0, step_status: "completed", step_notes: "" }),
  ).toContain("0. [✓] Book\n   Notes: in May\n");
  expect(await call({ command: "update", title: "", steps: [] })).toContain("Plan: Trip");
  expect(await call({ command: "list" })).toContain(`${id} (active): Trip - 2/3 steps completed`);
  expect((await place.result({ ...made, steps: ["a", ""] })).isError).toBe(true);
});

test("a step whose text only begins like another's is a new one", async () => {
  await using place = await setUp();
  await place.call({ ...made, steps: ["Pack bags", "Go"] });
  await place.call({ command: "mark_step", step_index: 0, step_status: "completed" });
  expect(await place.call({ command: "update", steps: ["Pack", "Pack bags", "Go on"] })).toContain(
    "0. [ ] Pack\n1. [✓] Pack bags\n2. [ ] Go on\n",
  );
});
