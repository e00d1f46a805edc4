import { expect, test } from "bun:test";
import type { Flow } from "manyhands/internal/core/flow";
import { createBoard } from "./board.ts";

const step = (id: string, text: string) => ({ id, text, agent: "one", dependsOn: [], expected: "", delivers: [] });

test("when a plan replaces another, finished steps stay finished, and new ones have not started", () => {
  const shown: (readonly string[])[] = [];
  const flow = {
    tell: ({ data }: { data: { steps: readonly { id: string; status: string; notes: string }[] } }) =>
      shown.push(data.steps.map(({ id, status, notes }) => `${id} ${status} ${notes}`.trim())),
    artifact: () => undefined,
  } as unknown as Flow;
  const board = createBoard();
  board.post(flow, { id: "p", title: "Plan", steps: ["1", "2", "3"].map((id) => step(id, "do it")) }, "planned");
  board.mark(flow, "1", "completed", "seen", "");
  board.mark(flow, "2", "blocked", "no paper", "");
  board.mark(flow, "3", "in_progress", "", "");
  board.post(
    flow,
    { id: "p", title: "Plan", steps: [step("1", "do it"), step("2", "otherwise"), step("3", "do it")] },
    "anew",
  );
  expect(shown.at(-2)).toEqual(["1 completed seen", "2 blocked no paper", "3 in_progress"]);
  expect(shown.at(-1)).toEqual(["1 completed seen", "2 not_started", "3 not_started"]);
});
