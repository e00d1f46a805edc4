import { expect, spyOn, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ShownState, TaskItem } from "../../tasks/task-item.ts";
import { cliForTest } from "../../testing/cli.ts";
import * as reading from "./read-task.ts";

const at = (state: ShownState): TaskItem => ({ kind: "state", taskId: "t1", contextId: "c1", state });

test("a file can be added in mid-conversation and is sent once, even with an answer", async () => {
  let turn = 0;
  await using cli = await cliForTest({
    play: async function* () {
      yield ++turn === 2 ? at("input-required") : at("completed");
    },
    answers: ["one", "/file a.csv", "/file sub/b.txt", "two", "/file a.csv", "yes", "three", "/exit"],
  });
  await mkdir(join(cli.cwd, "sub"));
  await writeFile(join(cli.cwd, "a.csv"), "1,2");
  await writeFile(join(cli.cwd, "sub/b.txt"), "b");
  expect(await cli.run("chat")).toBe(0);
  expect(cli.sent.map(({ text, taskId, files }) => [text, taskId, files?.map(({ name }) => name)])).toEqual([
    ["one", undefined, []],
    ["two", undefined, ["a.csv", "b.txt"]],
    ["yes", "t1", ["a.csv"]],
    ["three", undefined, []],
  ]);
  expect(cli.said()).toContain("a.csv (3 B) is attached to your next message.");
});

test("an unknown command or a missing file is reported and never sent", async () => {
  await using cli = await cliForTest({ answers: ["/fiel a.csv", "/file none.csv", "/file", "/help"] });
  expect(await cli.run("chat")).toBe(0);
  expect(cli.sent).toEqual([]);
  expect(cli.said()).toContain("Unknown command /fiel.");
  expect(cli.said()).toContain("There is no file none.csv.");
  expect(cli.said()).toContain("Name a file: /file PATH.");
  expect(cli.said()).toContain("/exit        end, and show how to continue later");
});

test("the name of an attached file is shown without what moves the cursor", async () => {
  await using cli = await cliForTest({ answers: ["/file a\x1b[2J.csv"] });
  await writeFile(join(cli.cwd, "a\x1b[2J.csv"), "1,2");
  expect(await cli.run("chat")).toBe(0);
  expect(cli.said()).toContain("a\\u001b[2J.csv (3 B) is attached to your next message.");
});

test("a file that may not be read ends no chat; a bug does", async () => {
  using read = spyOn(reading, "readFiles");
  read.mockRejectedValueOnce(Object.assign(new Error("no"), { code: "EACCES", syscall: "open", path: "/etc/shadow" }));
  read.mockRejectedValueOnce(new TypeError("a bug"));
  await using cli = await cliForTest({ answers: ["/file /etc/shadow", "/file b.csv", "never"] });
  await expect(cli.run("chat")).rejects.toThrow("a bug");
  expect(cli.said()).toContain("/etc/shadow cannot be used: this user may not (open, EACCES).");
  expect(cli.sent).toEqual([]);
});

test("only lines with words are sent, without the blanks around them", async () => {
  await using cli = await cliForTest({
    play: async function* () {
      yield at("completed");
    },
    answers: ["", "  ", "  hello ", " /exit ", "never"],
  });
  expect([await cli.run("chat"), cli.sent.map(({ text }) => text)]).toEqual([0, ["hello"]]);
});

test("a question is answered before its task is told of, and a task that failed is over", async () => {
  const turns: ShownState[] = ["input-required", "failed", "completed"];
  await using cli = await cliForTest({
    play: async function* () {
      yield at(turns.shift() ?? "completed");
    },
    answers: ["one", "an answer", "two", "/new"],
  });
  expect(await cli.run("chat")).toBe(0);
  expect(cli.asked).toEqual(["You", "Your answer", "You", "You", "You"]);
  expect(cli.sent.map(({ taskId }) => taskId)).toEqual([undefined, "t1", undefined]);
  expect(cli.out().match(/waiting for an answer|✗ failed|✓ completed/g)).toEqual(["✗ failed", "✓ completed"]);
  expect(cli.said()).toContain("Your next message starts a new conversation.");
});

test("Ctrl-C before an agent has answered leaves that message, and the chat goes on", async () => {
  await using cli = await cliForTest({
    play: async function* ({ text }, { signal }) {
      if (text === "one") {
        process.emit("SIGINT");
        signal.throwIfAborted();
      }
      yield at("completed");
    },
    answers: ["one", "two"],
  });
  expect([await cli.run("chat"), cli.sent.map(({ text }) => text)]).toEqual([0, ["one", "two"]]);
  expect(cli.out().match(/■ canceled|✓ completed/g)).toEqual(["■ canceled", "✓ completed"]);
});

test("a line that starts with a path is not a command", async () => {
  const play = async function* () {
    yield at("completed");
  };
  await using cli = await cliForTest({ play, answers: ["/etc/hosts names this machine?"] });
  expect(await cli.run("chat")).toBe(0);
  expect(cli.sent).toMatchObject([{ text: "/etc/hosts names this machine?" }]);
});

test("at its end a chat prints the command that continues it; an empty chat prints nothing", async () => {
  const play = async function* () {
    yield at("completed");
  };
  for (const last of ["/exit", undefined]) {
    const answers = ["hello", ...(last === undefined ? [] : [last])];
    await using cli = await cliForTest({ play, answers, env: { SWE_URL: "http://127.0.0.1:1" } });
    expect(await cli.run("chat", "--flow", "planning")).toBe(0);
    expect(cli.said()).toEndWith("Continue this conversation with: bun manyhands chat --flow planning --context c1\n");
  }
  await using silent = await cliForTest({ answers: ["/exit"] });
  expect(await silent.run("chat")).toBe(0);
  expect(silent.said()).not.toContain("Continue this conversation");
});

test("a chat continues where it is told to, keeps its conversation, and begins anew with nothing of before", async () => {
  const state = (contextId: string, state: ShownState): TaskItem => ({ kind: "state", taskId: "t1", contextId, state });
  const turns = [
    state("c9", "completed"),
    state("", "completed"),
    state("c9", "input-required"),
    state("c2", "completed"),
  ];
  await using cli = await cliForTest({
    play: async function* () {
      yield turns.shift() ?? at("completed");
    },
    answers: ["one", "two", "three", "/file a.csv", "/new", "four", "/exit"],
  });
  await writeFile(join(cli.cwd, "a.csv"), "1,2");
  expect(await cli.run("chat", "--context", "c0")).toBe(0);
  expect(cli.sent.map(({ text, contextId, taskId, files }) => [text, contextId, taskId, files?.length])).toEqual([
    ["one", "c0", undefined, 0],
    ["two", "c9", undefined, 0],
    ["three", "c9", undefined, 0],
    ["four", undefined, undefined, 0],
  ]);
});
