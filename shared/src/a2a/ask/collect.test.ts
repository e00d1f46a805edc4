import { expect, test } from "bun:test";
import { Task } from "@a2a-js/sdk";
import { answerOf, readResult } from "./collect.ts";
import type { Peers } from "./peers.ts";

const artifact = (name: string, ...texts: string[]) => ({
  artifactId: name,
  name,
  parts: texts.map((text) => ({ text })),
});
const answer = (...artifacts: object[]) => answerOf(Task.fromJSON({ id: "t", artifacts })).text;

test("an answer that arrives in pieces is joined unchanged: lines and words end where the agent ended them", () => {
  expect(answer(artifact("answer", "There are 1", "68 pri", "mes.\n", "\n- 2\n", "- 3"))).toBe(
    "There are 168 primes.\n\n- 2\n- 3",
  );
  expect(answer(artifact("result", "```js\nlet ", "x;\n```"))).toBe("```js\nlet x;\n```");
});

test("several artifacts are one text, each on lines of its own", () => {
  expect(answer(artifact("one", "first ", "part"), artifact("empty"), artifact("two", "second"))).toBe(
    "first part\nsecond",
  );
  expect(answer(artifact("draft", "no"), artifact("answer", "yes"))).toBe("yes");
});

const most = 256 * 1024;

test.each([
  [most, most, undefined, [most, true]],
  [most + 1, 2, "text", [most + "\n[cut off]".length, true]],
  [1, most + 1, "data", [1, false]],
  [most + 1, most + 1, "text and data", [most + "\n[cut off]".length, false]],
] as const)(
  "of an answer with %i characters and data with %i too much is said to be the %p",
  (text, data, what, kept) => {
    const parts = [{ text: "x".repeat(text) }, { data: "y".repeat(data - 2) }];
    const { fault, ...taken } = answerOf(
      Task.fromJSON({ id: "t", artifacts: [{ artifactId: "a", name: "answer", parts }] }),
    );
    expect([taken.text.length, taken.data !== undefined]).toEqual([...kept]);
    expect(fault?.message).toBe(
      (what && `The ${what} of the answer is longer than the ${most} characters that are taken.`) as string,
    );
  },
);

test("without an artifact the answer is the agent's last word: of its status, or else of the conversation", () => {
  const words = (status: string | undefined, ...history: readonly string[]) =>
    answerOf(
      Task.fromJSON({
        id: "t",
        ...(status !== undefined && {
          status: { state: "TASK_STATE_COMPLETED", message: { parts: [{ text: status }] } },
        }),
        history: history.map((text, at) => ({
          messageId: `${at}`,
          role: at % 2 === 0 ? "ROLE_USER" : "ROLE_AGENT",
          parts: [{ text }],
        })),
      }),
    ).text;
  expect(words("done", "go", "earlier")).toBe("done");
  expect(words("", "go", "first", "more", "second", "thanks")).toBe("second");
  expect(words(undefined, "go")).toBe("");
});

const result = (state: string, more: object = {}, ours = true) =>
  readResult(
    Task.fromJSON({
      id: "t",
      status: { state: `TASK_STATE_${state}`, ...more },
      metadata: { "manyhands/takenIn": ["web"] },
    }),
    { name: "swe", url: "http://swe.example" },
    { ours },
    { bounds: { files: 1, fileBytes: 1 } } as Peers,
    new AbortController().signal,
  );
const said = (text: string, code?: string) => ({
  message: { parts: [{ text }], ...(code && { metadata: { "manyhands/error": { code, message: "theirs" } } }) },
});

test.each([
  ["COMPLETED", {}, "completed", undefined],
  ["COMPLETED", said("fine", "stuck"), "completed", undefined],
  ["FAILED", said("No\nfile"), "failed", { code: "task_failed", message: "No file" }],
  ["FAILED", said("Too many", "step_limit"), "failed", { code: "step_limit", message: "Too many" }],
  ["FAILED", said("Odd", "of_a_later_version"), "failed", { code: "task_failed", message: "Odd" }],
  ["REJECTED", said("Not mine"), "rejected", { code: "rejected", message: "Not mine" }],
  ["CANCELED", {}, "canceled", { code: "task_failed", message: "swe ended its task as canceled and did not say why." }],
  ["FAILED", {}, "failed", { code: "task_failed", message: "swe ended its task as failed and did not say why." }],
] as const)("a task that ended as %s with %j is %s", async (wire, more, state, error) => {
  const outcome = await result(wire, more);
  expect([outcome.state, outcome.error]).toEqual([state, error]);
});

test("what an agent says it has taken in counts only of an agent of ours", async () => {
  expect((await result("COMPLETED", {}, true)).takenIn).toEqual(["web"]);
  expect((await result("COMPLETED", {}, false)).takenIn).toBeUndefined();
});

test("a result has its data, what it used and its artifacts where there are any, and nothing else", async () => {
  const outcomeOf = (more: object) =>
    readResult(
      Task.fromJSON({ id: "t", status: { state: "TASK_STATE_COMPLETED" }, ...more }),
      { name: "swe", url: "http://swe.example" },
      { ours: false },
      { bounds: { files: 1, fileBytes: 1 } } as Peers,
      new AbortController().signal,
    );
  expect(await outcomeOf({})).toEqual({ state: "completed", answer: "", files: [] });
  const usage = { tokens: 10, outputTokens: 2, usd: 0.5, unpriced: false };
  const parts = [{ text: "It is " }, { data: { n: 0 } }];
  const chart = { artifactId: "c", name: "chart", parts: [{ data: { bars: 2 } }] };
  const whole = await outcomeOf({
    artifacts: [{ artifactId: "a", name: "answer", parts }, chart],
    metadata: { "manyhands/usage": usage },
  });
  expect(whole).toMatchObject({ answer: "It is ", data: { n: 0 }, usage, artifacts: [{ name: "chart" }] });
  expect(whole.artifacts).toHaveLength(1);
  const large = { artifactId: "f", name: "f.bin", parts: [{ raw: "eHh4", filename: "f.bin" }] };
  const many = Array.from({ length: 51 }, (_, n) => ({ ...chart, artifactId: `c${n}` }));
  const missed = async (artifacts: readonly object[]) => (await outcomeOf({ artifacts })).error?.message;
  expect(await missed([large])).toContain("f.bin is larger");
  expect(await missed(many)).toContain("more artifacts than the 50");
});

test("an answer that was cut within a character, there or here, is whole characters", () => {
  expect(answer(artifact("answer", "half \ud83d"))).toBe("half \ufffd");
  const cut = answer(artifact("answer", `${"x".repeat(most - 1)}\ud83d\ude00`));
  expect(cut.slice(most - 1)).toBe("\ufffd\n[cut off]");
});
