import { expect, test } from "bun:test";
import { redactKeys } from "./classify.ts";

const hidden: [string, string, string][] = [
  ["the key in use, whatever it looks like", "bad key hunter22 given", "bad key [key] given"],
  ["a key of a known look", "Incorrect API key provided: sk-proj-ab12****wxyz.", "Incorrect API key provided: [key]"],
  ["a bearer token", 'header "Authorization: Bearer abc.def" refused', 'header "Authorization: [key]" refused'],
  ["a key in a query", "GET https://x/v1?api-key=abc&v=1 failed", "GET https://x/v1?api-key=[key]&v=1 failed"],
  [
    "nothing where nothing is",
    "The task-force asked for a monkey_business model",
    "The task-force asked for a monkey_business model",
  ],
];
test("a word that is not the whole key stays, and so does one too short to be a key", () => {
  expect(redactKeys("hunter22 and my-hunter2x-key", "hunter22")).toBe("[key] and my-hunter2x-key");
  expect(redactKeys("nonetheless, Ollama/ollama-3 has none of it", "ollama")).toBe(
    "nonetheless, Ollama/ollama-3 has none of it",
  );
  expect(redactKeys("the model mistral-large, mistral-", "mistral-")).toBe("the model mistral-large, [key]");
  expect(redactKeys("key=a+b(c)d/e== refused", "a+b(c)d/e==")).toBe("key=[key] refused");
});

test.each(hidden)("%s is hidden", (_, text, safe) => {
  expect(redactKeys(text, "hunter22")).toBe(safe);
});
