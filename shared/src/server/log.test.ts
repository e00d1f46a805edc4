import { expect, test } from "bun:test";
import { openLog } from "./log.ts";

const evil = 'a\n{"level":60,"msg":"forged"}\r\n\x1b]0;title\x07\x1b[2J\x9b31m\u202egnp\u2028end\x7f';

test("text from outside stays in its line and field, and has no effect on a terminal", () => {
  const lines: string[] = [];
  const log = openLog("agent", (line) => lines.push(line));
  log.error({ err: new Error(evil), url: evil }, evil);
  log.warn({ reason: evil }, evil);
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these very characters are what is looked for.
    expect(line).toMatch(/^[^\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]*\n$/);
    expect(JSON.parse(line).msg).toBe(evil);
  }
});

test("keys and tokens do not appear in the log", () => {
  const lines: string[] = [];
  openLog("agent", (line) => lines.push(line)).info(
    {
      apiKey: "sk-1",
      token: "t-1",
      headers: { authorization: "b-1" },
      err: Object.assign(new Error("refused"), { token: "t-2" }),
    },
    "asked",
  );
  expect(lines.join("")).not.toMatch(/sk-1|t-1|b-1|t-2/);
});

test("an error is logged with its cause, and a value that JSON has no form for keeps nothing from being logged", () => {
  const lines: string[] = [];
  const log = openLog("agent", (line) => lines.push(line));
  const cause = new Error("the disk is full");
  log.error({ err: Object.assign(new Error("not stored", { cause }), { code: "ENOSPC" }), bytes: 1n }, "failed");
  const self: Record<string, unknown> = { token: "t-1" };
  self.self = self;
  log.info(self, "goes on");
  const [first, second] = lines.map((line) => JSON.parse(line));
  expect(first).toMatchObject({
    level: 50,
    pid: process.pid,
    name: "agent",
    err: { type: "Error", message: "not stored", code: "ENOSPC", cause: { message: "the disk is full" } },
    bytes: "1",
    msg: "failed",
  });
  expect(first.err.stack).toContain("log.test.ts");
  expect(second).toMatchObject({ level: 30, msg: "goes on" });
  expect(lines.join("")).not.toContain("t-1");
});
