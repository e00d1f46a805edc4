import { expect, test } from "bun:test";
import { AppError } from "../../../core/errors.ts";
import type { SandboxCommand } from "../../../machine/sandbox/sandbox.ts";
import { type ProcessByHand, processByHand } from "../../../testing/sandbox/process-by-hand.ts";
import { packetLine, packetsOf, packetText } from "./packets.ts";
import { runGit } from "./run-git.ts";

const git = { script: "git log", args: ["-x", "y"], workspace: "/w", timeoutMs: 60_000, maxBytes: 4 };

/** A run of git that does what a test says. */
function run(does: (byHand: ProcessByHand) => void, rest: Partial<typeof git> = {}, signal?: AbortSignal) {
  const asked: SandboxCommand[] = [];
  const byHand = processByHand();
  const sandbox = {
    async spawn(command: SandboxCommand) {
      asked.push(command);
      does(byHand);
      return byHand.process;
    },
  };
  const deps = { sandbox: sandbox as never, signal: signal ?? new AbortController().signal };
  const input = [Buffer.from("one"), Buffer.from("two")];
  return { asked, byHand, ran: runGit({ ...git, input, ...rest }, deps) };
}

test("git runs with no settings but those of its repository, is given all its input, and a failure is a result", async () => {
  const { asked, byHand, ran } = run((process) => {
    process.says("stdout", "1234");
    process.says("stderr", ` ${"e".repeat(400)}\n`);
    process.exits(7);
  });
  const { exitCode, output, complaint } = await ran;
  expect([exitCode, output.toString(), complaint]).toEqual([7, "1234", "e".repeat(300)]);
  // Whatever it started ends with it.
  expect(byHand.done).toEqual(["write one", "write two", "end", "kill"]);
  expect(asked).toEqual([
    {
      argv: ["sh", "-c", "git log", "sh", "-x", "y"],
      workspace: "/w",
      env: {
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_NO_REPLACE_OBJECTS: "1",
        GIT_TERMINAL_PROMPT: "0",
      },
    },
  ]);
});

test("of git no more is taken than may be sent, and no more time", async () => {
  const large = run((process) => process.says("stdout", "12345"));
  await expect(large.ran).rejects.toMatchObject({ code: "too_large" });
  const late = run(() => undefined, { timeoutMs: 20 });
  await expect(late.ran).rejects.toMatchObject({ code: "timeout", message: "git did not end within 0.02 s." });
  for (const { byHand } of [large, late]) expect(byHand.done).toContain("kill");
});

test("git that is given up before, while it starts or later is ended, with the reason", async () => {
  const reason = new Error("enough");
  const before = run(() => undefined, {}, AbortSignal.abort(reason));
  await expect(before.ran).rejects.toBe(reason);
  expect(before.asked).toEqual([]);
  for (const isStarting of [true, false]) {
    const leaving = new AbortController();
    const { byHand, ran } = run(() => isStarting && leaving.abort(reason), {}, leaving.signal);
    if (!isStarting) setTimeout(() => leaving.abort(reason), 5);
    await expect(ran).rejects.toBe(reason);
    expect(byHand.done).toContain("kill");
  }
});

test.each<[string, readonly string[] | string]>([
  [`${packetLine("a b")}0000${packetLine("c")}0001`, ["a b", "flush", "c", "delimiter"]],
  ["0004", [""]],
  ["0005", "unavailable: The server's answer is cut off, or is not git's."],
  ["0002", "unavailable: The server's answer is cut off, or is not git's."],
  ["<htm", "unavailable: The server's answer is cut off, or is not git's."],
  ["00", "unavailable: The server's answer is cut off, or is not git's."],
  [packetLine("ERR no such\u0007 thing"), "unavailable: The server says: no such  thing"],
])("the packets of %j are %j", (text, expected) => {
  const read = () => {
    try {
      return [...packetsOf(Buffer.from(text))].map((packet) =>
        typeof packet === "string" ? packet : packetText(packet),
      );
    } catch (error) {
      return error instanceof AppError ? `${error.code}: ${error.message}` : error;
    }
  };
  expect(read()).toEqual(expected);
});
