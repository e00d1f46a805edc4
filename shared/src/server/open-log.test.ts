import { expect, test } from "bun:test";
import { openLog } from "./open-log.ts";

const evil = 'a\n{"level":60,"msg":"forged"}\r\n\x1b]0;title\x07\x1b[2J\x9b31m\u202egnp\u2028end\x7f';

test("what comes from outside stays in its line and its field, and does nothing to a terminal", () => {
  const lines: string[] = [];
  const log = openLog("agent", (line) => lines.push(line));
  log.error({ err: new Error(evil), url: evil }, evil);
  log.warn(evil);
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these very characters are what is looked for.
    expect(line).toMatch(/^[^\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]*\n$/);
    expect(JSON.parse(line).msg).toBe(evil);
  }
});

test("keys and tokens are not in the log", () => {
  const lines: string[] = [];
  openLog("agent", (line) => lines.push(line)).info({
    apiKey: "sk-1",
    token: "t-1",
    headers: { authorization: "b-1" },
  });
  expect(lines.join("")).not.toMatch(/sk-1|t-1|b-1/);
});
