import { expect, spyOn, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { UserMessage } from "../../core/message.ts";
import type { Run } from "../../core/runs/run.ts";
import type { RemoteTask } from "./ask.ts";
import * as forms from "./asked-in-form.ts";
import type { Peers } from "./peers.ts";
import { relayQuestion } from "./relay-question.ts";

const live = new AbortController().signal;
const parts = [{ type: "text" as const, text: "2026" }];
const heard: UserMessage = { messageId: "m", parts };
const said = { messageId: "before", parts: [{ type: "text" as const, text: "By the way" }] };

type Changes = {
  /** The ask's end, on the runs' clock, which begins at 1,000. */
  readonly endsAt?: number;
  readonly ours?: boolean;
  /** How often the floor is not to be had. */
  readonly taken?: number;
  readonly answer?: UserMessage | null;
  /** What sending the answer rejects with, time after time. */
  readonly fails?: readonly Error[];
  receiveMessages?(messages: readonly UserMessage[]): void;
  /** What else the question has. */
  readonly more?: object;
};

/** Relays a question on a clock that only waiting moves; what was asked, sent and waited for. */
async function relayed(kind: "question" | "authorization", text: string, changes: Changes = {}) {
  const { endsAt, ours = true, taken = 0, answer = heard, fails = [], receiveMessages, more } = changes;
  let now = 1_000;
  const [floor, waits, slept, sent, asked, steps] = [[], [], [], [], [], []] as [
    unknown[],
    number[],
    number[],
    unknown[],
    string[],
    unknown[],
  ];
  const told: object[] = [];
  const run = {
    id: "r",
    step: (name: string, work: (step: object) => unknown, how: object) => {
      steps.push([name, how]);
      return work({ signal: live, now: () => now });
    },
    poll: async () => [said],
    emit: () => undefined,
    sleep: async (ms: number) => {
      slept.push(ms);
      now += ms;
    },
    signal: async (_: string, { events }: { readonly events: readonly { readonly question: string }[] }) => {
      told.push(...events);
      asked.push(...events.map(({ question }) => question));
      return answer;
    },
    race: async (branches: readonly ((own: unknown) => Promise<unknown>)[]) =>
      (await Promise.all(branches.map((branch) => branch(run))))[0],
  };
  const errors = [...fails];
  const client = {
    async submit(message: unknown) {
      sent.push(message);
      const error = errors.shift();
      if (error !== undefined) throw error;
      return {};
    },
  };
  const peers = {
    client: async () => client,
    retrySignal: () => undefined,
    questionLock: {
      async take(runId: string, askId: string, waitMs: number) {
        waits.push(waitMs);
        const isTaken = waits.length > taken;
        if (!isTaken) now += waitMs;
        floor.push(["take", runId, askId]);
        return isTaken;
      },
      hold: (...who: unknown[]) => void floor.push(["hold", ...who]),
      leave: (...who: unknown[]) => void floor.push(["leave", ...who]),
    },
  } as unknown as Peers;
  const ask = {
    ...{ askId: "a", agent: { name: "swe", url: "http://swe.example" }, patienceMs: 5_000, endsAt },
    ...(receiveMessages && { receiveMessages }),
  };
  const remote = { title: "Swe", ours, taskId: "t", contextId: "c", ask } as unknown as RemoteTask;
  const question = { id: "q", kind, text, ...more };
  const outcome = await relayQuestion(run as unknown as Run, remote, question, { n: 2, at: now }, peers).catch(
    (error: unknown) => error,
  );
  return { outcome, floor, waits, slept, sent, asked, steps, told };
}

test("a person's answer goes to the task that asked, as the message of this question, and the floor is passed on", async () => {
  const { outcome, sent, asked, floor, steps } = await relayed("question", "Which year?");
  expect(outcome).toMatchObject({
    exchange: { kind: "question", question: "Which year?", answer: parts },
    told: { value: null },
  });
  const outgoing = [{ content: { $case: "text", value: "2026" } }];
  expect(sent).toMatchObject([{ messageId: "a/answer-2", taskId: "t", contextId: "c", parts: outgoing }]);
  expect(asked).toEqual(["Swe asks:\n\nWhich year?"]);
  // An execution that resumes the run takes what it had at once.
  expect(floor).toEqual(["take", "hold", "leave"].map((what) => [what, "r", "a"]));
  expect(steps.at(-1)).toEqual(["answer", { effect: "idempotent" }]);
});

test.each([
  ["", "It does not say for what."],
  ["Sign in.", "Sign in."],
])("a request for leave says for what, as far as it is known: %j", async (text, what) => {
  const { asked } = await relayed("authorization", text);
  expect(asked).toEqual([expect.stringMatching(new RegExp(`^Swe wants to be authorized[^]*\n\n${what}$`))]);
});

test("an agent of ours is sent the answer until it has it, any other once", async () => {
  const fails = [1, 2].map(() => new AppError("unavailable", "x"));
  const own = await relayed("question", "?", { fails });
  expect(own.outcome).toMatchObject({ told: { value: null } });
  expect(own.sent).toEqual(Array(3).fill(own.sent[0]));
  const other = await relayed("question", "?", { fails, ours: false });
  expect(other.outcome).toMatchObject({ told: { fault: { code: "unavailable" } } });
  expect([other.sent.length, other.steps.at(-1)]).toEqual([1, ["answer", { effect: "once" }]]);
});

test("who waits for the floor waits for its deadline at most, and a person has what is left of it", async () => {
  const late = await relayed("question", "?", { endsAt: 41_000, taken: 9 });
  expect([late.outcome, late.waits, late.asked]).toEqual([undefined, [30_000, 10_000], []]);
  expect((await relayed("question", "?", { endsAt: 1_000 })).waits).toEqual([]);
  const waited = await relayed("question", "?", { endsAt: 41_000, taken: 1, answer: null });
  expect([waited.outcome, waited.slept, waited.sent]).toEqual([undefined, [10_000], []]);
  const patient = await relayed("question", "?", { taken: 2 });
  expect([patient.waits, patient.slept]).toEqual([[30_000, 30_000, 30_000], []]);
});

test("the floor is passed on, too, if nobody answers or the answer cannot be sent", async () => {
  const passedOn = ["leave", "r", "a"];
  expect((await relayed("question", "?", { endsAt: 9_000, answer: null })).floor.at(-1)).toEqual(passedOn);
  const bug = new TypeError("a bug");
  const broken = await relayed("question", "?", { fails: [bug] });
  expect([broken.outcome, broken.floor.at(-1)]).toEqual([bug, passedOn]);
});

test("what the user said before the question is not its answer, where somebody takes it", async () => {
  const received: unknown[] = [];
  const { sent } = await relayed("question", "?", { receiveMessages: (messages) => void received.push(...messages) });
  expect([received, sent.length]).toEqual([[said], 1]);
});

test("what is asked in a form is answered in it, in the time that is left, and about a call with that call", async () => {
  const form = { type: "approvals", calls: [] };
  const approvals = [{ id: "x", approved: true }];
  const response = { type: "tool_approval_response" as const, approvals };
  using answering = spyOn(forms, "answerInForm").mockResolvedValue({ said: "yes", response });
  const { sent, outcome, asked } = await relayed("question", "May I?", { endsAt: 41_000, more: { form } });
  expect(sent).toMatchObject([{ hitl: response, parts: [{ content: { value: "yes" } }] }]);
  expect(outcome).toMatchObject({ exchange: { question: "May I?", answer: [{ text: "yes" }] }, told: { value: null } });
  const from = { agent: "swe", taskId: "t", contextId: "c" };
  expect(answering.mock.calls[0]?.slice(1)).toEqual(["Swe", form, { askId: "a", from }, 40_000] as never);
  answering.mockResolvedValue(undefined);
  const late = await relayed("question", "May I?", { endsAt: 41_000, more: { form } });
  expect([late.outcome, late.sent, late.floor.at(-1), asked]).toEqual([undefined, [], ["leave", "r", "a"], []]);
  const approval = { id: "x1", callId: "1", name: "bash", arguments: "{}" };
  expect((await relayed("question", "May I?", { more: { approval } })).told).toMatchObject([{ approval, from }]);
});
