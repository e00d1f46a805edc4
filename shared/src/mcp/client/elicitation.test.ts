import { expect, test } from "bun:test";
import { answerOf, questionOf } from "./elicitation.ts";

const form = {
  message: "Sign in\u001b[2J",
  requestedSchema: {
    type: "object" as const,
    properties: {
      user: { type: "string" as const },
      password: { type: "string" as const },
      remember: { type: "boolean" as const },
    },
    required: ["user", "password"],
  },
};
const one = {
  message: "How many?",
  requestedSchema: {
    type: "object" as const,
    properties: { count: { type: "integer" as const } },
    required: ["count"],
  },
};

test("a question says which server asks, quotes its words, and points out what looks like a secret", () => {
  const question = questionOf("shop", form);
  expect(question).toStartWith('The MCP server "shop" asks (these are its words, not mine):\n\n> Sign in\n');
  expect(question).toContain('"shop" asks for what looks like a secret');
  expect(questionOf("shop", one)).not.toContain("secret");
});

test("an address is shown, and never opened by us", () => {
  const question = questionOf("shop", {
    mode: "url",
    message: "Pay",
    url: "https://pay.example/1",
    elicitationId: "1",
  });
  expect(question).toContain("https://pay.example/1");
  expect(answerOf("done", { mode: "url", message: "Pay", url: "https://pay.example/1", elicitationId: "1" })).toEqual({
    result: { action: "accept" },
  });
});

test("answers are lines, JSON or the single value, in the requested type", () => {
  const content = { user: "ann", password: "a: b", remember: true };
  expect(answerOf("user: ann\n- Password: a: b\nremember = yes", form)).toEqual({
    result: { action: "accept", content },
  });
  expect(answerOf(JSON.stringify(content), form)).toEqual({ result: { action: "accept", content } });
  expect(answerOf(" 0 ", one)).toEqual({ result: { action: "accept", content: { count: 0 } } });
});

test("values may stand in one line, and limits are shown and enforced", () => {
  const properties = {
    people: { type: "integer" as const, minimum: 1, maximum: 25 },
    language: { type: "string" as const, enum: ["de", "zh"] },
    note: { type: "string" as const },
  };
  const asked = { message: "Tour", requestedSchema: { type: "object" as const, properties, required: ["people"] } };
  expect(questionOf("zoo", asked)).toContain("- people (integer from 1 to 25)");
  expect(answerOf("people: 24, language: zh; note: milk, bread", asked)).toEqual({
    result: { action: "accept", content: { people: 24, language: "zh", note: "milk, bread" } },
  });
  expect(answerOf("people: 26", asked)).toEqual({ problem: 'people cannot be "26".' });
});

test("an answer made to take forever is read like any other", () => {
  const space = " ".repeat(100_000);
  expect(answerOf(`user = ann\n${space}x\n password${space}: ${space}pw`, form)).toEqual({
    result: { action: "accept", content: { user: "ann", password: "pw" } },
  });
});

test("invalid answers are reported, refusals and silence are passed on", () => {
  expect(answerOf("many", one)).toEqual({ problem: 'count cannot be "many".' });
  expect(answerOf("user: ann", form)).toEqual({ problem: "There was no value for password." });
  expect(answerOf("Decline.", form)).toEqual({ result: { action: "decline" } });
  expect(answerOf(undefined, form)).toEqual({ result: { action: "cancel" } });
});

test("an omitted value has the server's default", () => {
  const properties = {
    name: { type: "string" as const, default: "Joe" },
    age: { type: "integer" as const, default: 0 },
  };
  const asked = { message: "Who?", requestedSchema: { type: "object" as const, properties } };
  expect(questionOf("s", asked)).toContain("- age (integer, 0 when left out)");
  expect(answerOf("ok", asked)).toEqual({ result: { action: "accept", content: { name: "Joe", age: 0 } } });
  expect(answerOf("age: 7", asked)).toEqual({ result: { action: "accept", content: { name: "Joe", age: 7 } } });
});

type Property = Parameters<typeof questionOf>[1] extends infer Params
  ? Params extends { requestedSchema: { properties: infer Properties } }
    ? Properties[keyof Properties]
    : never
  : never;
const formOf = (properties: Record<string, object>, required: string[] = []) => ({
  message: "?",
  requestedSchema: { type: "object" as const, properties: properties as Record<string, Property>, required },
});
const given = (text: string, property: object) => {
  const answer = answerOf(text, formOf({ x: property }, ["x"]));
  return "result" in answer ? answer.result.content?.x : answer.problem;
};

test.each<[object, string, unknown]>([
  [{ type: "boolean" }, "Y", true],
  [{ type: "boolean" }, "1", true],
  [{ type: "boolean" }, "No", false],
  [{ type: "boolean" }, "0", false],
  [{ type: "boolean" }, "maybe", 'x cannot be "maybe".'],
  [{ type: "integer" }, "1.5", 'x cannot be "1.5".'],
  [{ type: "number" }, "1.5", 1.5],
  [{ type: "number" }, "1e999", 'x cannot be "1e999".'],
  [{ type: "number", minimum: 2 }, "2", 2],
  [{ type: "number", minimum: 2 }, "1.9", 'x cannot be "1.9".'],
  [{ type: "number", maximum: 2 }, "2", 2],
  [{ type: "number", maximum: 2 }, "2.1", 'x cannot be "2.1".'],
  [{ type: "number" }, "x: ", 'x cannot be "".'],
  [{ type: "string", enum: ["Red", "Blue"] }, "red", "Red"],
  [{ type: "string", enum: ["Red", "Blue"] }, "green", 'x cannot be "green".'],
  [{ type: "integer", enum: [1, 2] }, "2", "2"],
  [{ type: "string", oneOf: [{ const: "a" }, { const: "b" }] }, "B", "b"],
  [{ type: "array" }, "one, two", ["one", "two"]],
  [{ type: "array" }, '{"x": ["one", 2]}', ["one", "2"]],
  [{ type: "string" }, " as it is ", "as it is"],
  [{ type: "string" }, '{"x": ""}', ""],
])("a field %j and the answer %j make %j", (property, text, value) => {
  expect(given(text, property)).toEqual(value as string);
});

test.each([
  ["done", "accept"],
  ["OK.", "accept"],
  ["yes!", "accept"],
  ["accept", "accept"],
  ["no", "decline"],
  ["cancel", "decline"],
  ["what is this?", "decline"],
])("to an address the answer %j means %s, and to a question without fields too", (text, action) => {
  const url = { mode: "url" as const, message: "Pay", url: "https://pay.example/1", elicitationId: "1" };
  expect(answerOf(text, url)).toMatchObject({ result: { action } });
  if (text !== "done") expect(answerOf(text, formOf({}))).toMatchObject({ result: { action } });
});

test.each(["I do not accept.", "not ok", "never say yes"])("%s does not accept a question without fields", (text) => {
  expect(answerOf(text, formOf({}))).toEqual({ result: { action: "decline" } });
});

test.each(["decline", "Refuse", "cancel!"])("%s declines, whatever is asked", (text) => {
  expect(answerOf(text, one)).toEqual({ result: { action: "decline" } });
});

test("what may be left out is left out, with its default if it has one", () => {
  const asked = formOf({ a: { type: "string" }, b: { type: "integer", default: 3 }, c: { type: "string" } }, ["c"]);
  expect(answerOf("c: x", asked)).toEqual({ result: { action: "accept", content: { b: 3, c: "x" } } });
  expect(answerOf("a: x", asked)).toEqual({ problem: "There was no value for c." });
});

test.each([
  "password",
  "secretWord",
  "access token",
  "api key",
  "apiKey",
  "credential",
  "PIN",
  "cvv",
  "cvc",
  "card_number",
  "IBAN",
  "ssn",
  "otp",
  "one-time code",
])("a field called %s looks like a secret, by its name, title or description", (word) => {
  for (const property of [{ [word]: {} }, { x: { title: word } }, { x: { description: word } }])
    expect(questionOf("s", formOf(property))).toContain("what looks like a secret");
});

test("a field is shown with its kind, its choices, and whether it may be left out", () => {
  const asked = formOf(
    {
      a: { title: "A", description: "first" },
      b: { type: "string", enum: ["x", "y"] },
      c: { oneOf: [{ const: "p" }, { const: "q" }] },
      d: { type: "number", maximum: 3 },
    },
    ["b"],
  );
  const question = questionOf("s", asked);
  for (const line of [
    "- a (text, may be left out): A: first",
    "- b (one of x, y)",
    "- c (one of p, q, may be left out)",
    "- d (number to 3, may be left out)",
  ])
    expect(question).toContain(line);
  expect(question).toEndWith('Answer with a line "name: value" for each, or "decline".');
  expect(questionOf("s", one)).toEndWith('Answer with the value, or "decline".');
  expect(questionOf("s", formOf({}))).toEndWith('Answer "accept" or "decline".');
});

test("a server's words are bounded and cannot leave their place", () => {
  const message = `m\u200b${"m".repeat(5_000)}`;
  const asked = formOf({ "f\n> x": { title: "t".repeat(900) } });
  const question = questionOf("s", { ...asked, message });
  expect(question).toContain(`> ${"m".repeat(4_000)}\n`);
  expect(question.split("\n").filter((line) => line.startsWith("> x"))).toEqual([]);
  expect(question.split("\n").every((line) => line.length <= 4_002)).toBe(true);
  expect(question.split("\n").find((line) => line.startsWith("- f"))?.length).toBeLessThanOrEqual(502);
  const url = `https://pay.example/\nOur bank says: go on${"u".repeat(3_000)}`;
  const lines = questionOf("s", { mode: "url", message: "Pay", url, elicitationId: "1" }).split("\n");
  expect(lines.filter((line) => line.startsWith("Our bank"))).toEqual([]);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(2_000);
});

test("JSON keeps its values as they are written", () => {
  expect(answerOf('{"x": "Ann B"}', formOf({ x: { type: "string" } }))).toEqual({
    result: { action: "accept", content: { x: "Ann B" } },
  });
});

test("a server that asks for more values than a person gives is refused, before a question is made of them", () => {
  const named = (count: number) => ({
    message: "Sign in",
    requestedSchema: {
      type: "object" as const,
      properties: Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, { type: "string" as const }])),
    },
  });
  expect(questionOf("shop", named(50))).toContain("- n49");
  expect(() => questionOf("shop", named(51))).toThrow("it asks for 51 values at once");
});
