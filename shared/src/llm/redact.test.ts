import { expect, test } from "bun:test";
import { redactKeys } from "./redact.ts";

const hidden: [string, string, string][] = [
  ["the key in use, whatever it looks like", "bad key hunter2 given", "bad key [key] given"],
  ["a key of a known look", "Incorrect API key provided: sk-proj-ab12****wxyz.", "Incorrect API key provided: [key]"],
  ["a bearer token", 'header "Authorization: Bearer abc.def" refused', 'header "Authorization: [key]" refused'],
  ["a key in a query", "GET https://x/v1?api-key=abc&v=1 failed", "GET https://x/v1?api-key=[key]&v=1 failed"],
  [
    "nothing where nothing is",
    "The task-force asked for a monkey_business model",
    "The task-force asked for a monkey_business model",
  ],
];
test.each(hidden)("%s is hidden", (_, text, safe) => {
  expect(redactKeys(text, "hunter2")).toBe(safe);
});
