import { expect, test } from "bun:test";
import type { Part } from "../message.ts";
import type { Run } from "../runs/run.ts";
import { type ApprovalOptions, approvalCode, askApproval } from "./approval.ts";

const call = { id: "c1", name: "pay", arguments: '{"sum":5}' };
const text = (words: string): Part => ({ type: "text", text: words });

/** What a person decided who gave these answers, none for silence, and what they were asked. */
async function asked(
  answers: readonly (readonly Part[])[],
  more: { risk?: string; forTask?: string } & ApprovalOptions = {},
) {
  const left = [...answers];
  const events: object[] = [];
  const slept: number[] = [];
  const run = {
    signal: (_: string, { reason, events: told }: { reason: string; events: object[] }) => {
      expect(reason).toBe("input-required");
      events.push(...told);
      const parts = left.shift();
      return parts === undefined ? Promise.withResolvers().promise : Promise.resolve({ messageId: "m", parts });
    },
    sleep: (ms: number) => {
      slept.push(ms);
      return left.length === 0 ? Promise.resolve() : Promise.withResolvers().promise;
    },
    race: (branches: readonly ((branch: Run) => Promise<unknown>)[]) =>
      Promise.race(branches.map((branch) => branch(run))),
    emit: (event: object) => events.push(event),
  } as unknown as Run;
  const { risk, forTask, ...options } = more;
  const proposed = { ...call, ...(risk !== undefined && { risk }), ...(forTask !== undefined && { forTask }) };
  const decision = await askApproval(run, proposed, "abc123", options);
  return {
    decision,
    slept,
    events,
    questions: events.flatMap((event) => ("question" in event ? [event.question] : [])),
  };
}

test("a person is asked about exactly this call, with its code and what it would do", async () => {
  const bare = await asked([[text("no")]]);
  const end = 'pay {"sum":5}\n\nAnswer "yes abc123" to allow it once, anything else to refuse.';
  expect(bare.events).toEqual([
    {
      type: "question-asked",
      kind: "approval",
      question: `Allow this call?\n\n${end}`,
      approval: { id: "abc123", callId: "c1", name: "pay", arguments: '{"sum":5}' },
    },
    { type: "message-heard", messageId: "m", as: "answer" },
  ]);
  const from = { agent: "swe", taskId: "t", contextId: "c" };
  const { events } = await asked([[text("no")]], { risk: "It pays.", askId: "a1", from, head: "SWE asks. " });
  expect(events[0]).toMatchObject({
    question: `SWE asks. Allow this call?\n\nIt pays.\n\n${end}`,
    askId: "a1",
    from,
    approval: { risk: "It pays." },
  });
});

test.each<[readonly Part[], boolean]>([
  [[text("yes abc123")], true],
  [[text(' "Yes ABC123." ')], true],
  [[text("`yes abc123`!")], true],
  [[text("yes"), text("abc123")], true],
  [[{ type: "data", data: { a: 1 } }, text("yes abc123")], true],
  [[text("yes abc124")], false],
  [[text("yes abc1234")], false],
  [[text("abc123")], false],
  [[text("no, not yes abc123")], false],
  [[text("yes abc123 and go on")], false],
  [[text("")], false],
  [[{ type: "data", data: "yes abc123" }], false],
])("the answer %j allows the call: %p", async (parts, allowed) => {
  const { decision, questions } = await asked([parts]);
  expect([decision?.allowed, questions.length]).toEqual([allowed, 1]);
});

test.each(["y", "Yes", "ok.", "ALLOW!"])("a bare %p is asked once more, with the reason", async (bare) => {
  const then = await asked([[text(bare)], [text("yes abc123")]], { head: "SWE asks. " });
  expect(then.decision).toEqual({ allowed: true, said: "yes abc123" });
  expect(then.questions[1]).toStartWith(
    "SWE asks. Your yes did not say which call it is for: include the code.\n\nAllow this call?",
  );
  const again = await asked([[text(bare)], [text(bare)]]);
  expect([again.decision, again.questions.length]).toEqual([{ allowed: false, said: bare }, 2]);
});

test("silence is no decision, whether at first or after a bare yes", async () => {
  const silent = await asked([], { timeoutMs: 70_000 });
  expect([silent.decision, silent.slept]).toEqual([undefined, [70_000]]);
  expect((await asked([[text("yes")]], { timeoutMs: 1 })).decision).toBeUndefined();
  expect((await asked([[text("yes abc123")]], { timeoutMs: 1 })).decision?.allowed).toBe(true);
});

test("a code is of one call of one run, with its arguments and its risk", () => {
  const code = approvalCode("r1", call);
  expect(code).toMatch(/^[\da-f]{6}$/);
  expect(approvalCode("r1", { ...call })).toBe(code);
  const others = [
    approvalCode("r2", call),
    approvalCode("r1", { ...call, id: "c2" }),
    approvalCode("r1", { ...call, name: "buy" }),
    approvalCode("r1", { ...call, arguments: '{"sum":6}' }),
    approvalCode("r1", { ...call, risk: "It pays." }),
    approvalCode("r1", { ...call, risk: "It buys." }),
  ];
  expect(new Set([code, ...others]).size).toBe(7);
});

test.each<[string, string | undefined, boolean, true | undefined]>([
  ["yes abc123 for this task", "calls of pay", true, true],
  ["'Yes  abc123 FOR THIS TASK.'", "calls of pay", true, true],
  ["yes abc123", "calls of pay", true, undefined],
  // Where nothing more was offered, more words than the code refuse.
  ["yes abc123 for this task", undefined, false, undefined],
  ["yes abc123 for this task and the next", "calls of pay", false, undefined],
  ["yes abc124 for this task", "calls of pay", false, undefined],
  ["for this task", "calls of pay", false, undefined],
])(
  "the answer %p, where %p could be allowed besides, allows the call: %p, for the task: %p",
  async (said, forTask, allowed, all) => {
    const { decision, events } = await asked([[text(said)]], forTask === undefined ? {} : { forTask });
    expect([decision?.allowed, decision?.forTask]).toEqual([allowed, all]);
    const offer = '"yes abc123 for this task" to allow calls of pay, anything else to refuse.';
    const { question, approval } = events[0] as { question: string; approval: { forTask?: string } };
    expect([question.includes(offer), approval.forTask]).toEqual([forTask !== undefined, forTask]);
  },
);

test("what may be allowed besides is a part of what the code stands for", () => {
  const codes = [undefined, "calls of pay", "calls of buy"].map((forTask) =>
    approvalCode("r1", { ...call, ...(forTask !== undefined && { forTask }) }),
  );
  expect(new Set(codes).size).toBe(3);
});

test("without a deadline a person is waited for, however long it takes", async () => {
  const { slept, decision } = await asked([[{ type: "text", text: "yes abc123" }]]);
  expect([slept, decision?.allowed]).toEqual([[], true]);
});
