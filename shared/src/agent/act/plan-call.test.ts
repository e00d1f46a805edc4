import { expect, test } from "bun:test";
import type { Tool } from "../../core/tools/tool.ts";
import { planCall, readCall } from "./plan-call.ts";

type Way = "allow" | "ask" | "deny";
const call = (text = "{}") => readCall({ id: "1", name: "act", arguments: text });
const pure = { name: "act", effect: () => "pure" } as unknown as Tool;
const plan = (policy: Way, risky: Way | undefined, tool: Tool | undefined = pure) =>
  planCall(call(), tool, () => policy, risky && { sentence: "It pays.", way: risky });

test.each<[Way, Way | undefined, Way]>([
  ["allow", undefined, "allow"],
  ["ask", undefined, "ask"],
  ["deny", undefined, "deny"],
  ["allow", "allow", "allow"],
  ["allow", "ask", "ask"],
  ["allow", "deny", "deny"],
  ["ask", "allow", "ask"],
  ["ask", "ask", "ask"],
  ["ask", "deny", "deny"],
  ["deny", "allow", "deny"],
  ["deny", "ask", "deny"],
  ["deny", "deny", "deny"],
])("of policy %s and risk %p the stricter applies: %s", (policy, risky, approval) => {
  const { risk, ...planned } = plan(policy, risky);
  expect([planned.approval, risk]).toEqual([approval, risky && "It pays."]);
});

test.each([
  ["as a person reads them already", '{"n":1}', undefined],
  ["with spaces", '{ "n": 1 }', '{"n":1}'],
  ["twice", '{"n":7,"n":1}', '{"n":1}'],
  ["after pages of nothing", `{"n":7${"\n".repeat(200)},"n":1}`, '{"n":1}'],
  ["in escapes", '{"\\u006e":"\\u0072\\u006d"}', '{"n":"rm"}'],
  ["in a comment", '{"n":1 /* ,"n":7 */}', '{"n":1}'],
  ["in a text of their own", '"{\\"n\\":1}"', '{"n":1}'],
  ["in characters that nobody sees", '{"n":"a\u202eb"}', '{"n":"a\\u202eb"}'],
  ["in a way that is no JSON", "{", undefined],
])("a person is shown what a call would be made with, written %s", (_, written, shown) => {
  expect(planCall(call(written), pure, () => "ask", undefined).shown).toBe(shown);
  expect(planCall(call(written), pure, () => "allow", undefined).shown).toBeUndefined();
});

const durable = (more: object = {}) => ({ ...pure, callDurably: async () => ({}), ...more }) as unknown as Tool;
const effecting = (more: object = {}) => ({ ...pure, effect: () => "once", ...more }) as unknown as Tool;

test.each([
  ["a tool that is not known", undefined, "{}", "together"],
  ["a tool that only reads", pure, "{}", "together"],
  ["a tool that changes something", effecting(), "{}", "alone"],
  ["one that may run beside others all the same", effecting({ parallel: true }), "{}", "together"],
  ["one that reads but must run alone", { ...pure, parallel: false }, "{}", "alone"],
  ["a reading tool whose arguments are broken", pure, "{", "alone"],
  ["a durable tool", durable(), "{}", "waiting"],
  ["a durable tool that may run beside others", durable({ parallel: true }), "{}", "waiting-together"],
  ["a durable tool whose arguments are broken", durable({ parallel: true }), "{", "alone"],
] as const)("%s gets its place", (_, tool, text, way) => {
  expect(planCall(call(text), tool, () => "allow", undefined).way).toBe(way);
});
