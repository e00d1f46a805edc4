import { expect, test } from "bun:test";
import { Task } from "@a2a-js/sdk";
import { answerOf } from "./collect.ts";

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
