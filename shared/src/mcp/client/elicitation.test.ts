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
});
