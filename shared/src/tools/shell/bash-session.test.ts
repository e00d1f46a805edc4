import { expect, test } from "bun:test";
import type { Workspace } from "../../core/workspace.ts";
import type { Loopbacks } from "../../machine/sandbox/loopback.ts";
import type { Sandbox, SandboxCommand } from "../../machine/sandbox/sandbox.ts";
import { processByHand } from "../../testing/sandbox/process-by-hand.ts";
import { openBashSession, readMark, withoutShellNoise } from "./bash-session.ts";

/** A sandbox that starts no shell, or one that ends at once; what it was asked, and what ended. */
function scene(starts: "no shell" | "a shell that ends" | "a silent shell") {
  const asked: SandboxCommand[] = [];
  const ended: string[] = [];
  const sandbox = {
    async spawn(command: SandboxCommand) {
      asked.push(command);
      if (starts === "no shell") throw new Error("no room");
      const byHand = processByHand();
      if (starts === "a shell that ends") byHand.says("stderr", "bash: no such file\n");
      byHand.exits(127);
      return byHand.process;
    },
  } as unknown as Sandbox;
  const loopbacks = {
    open: async ({ root }: Workspace) => ({ folder: `${root}/door`, end: async () => void ended.push(root) }),
  } as unknown as Loopbacks;
  const opening = openBashSession(sandbox, { root: "/w" } as Workspace, loopbacks);
  return { asked, ended, opening };
}

test("a shell may use ten minutes of processor time, and its loopback ends with it, however it ends", async () => {
  const none = scene("no shell");
  await expect(none.opening).rejects.toThrow("no room");
  expect(none.ended).toEqual(["/w"]);
  expect(none.asked[0]).toMatchObject({
    workspace: "/w",
    loopback: "/w/door",
    limits: { cpuSeconds: 600 },
    env: { PS1: "", PS2: "", PROMPT_COMMAND: "", HISTFILE: "", PAGER: "cat", GIT_PAGER: "cat" },
  });
  const brief = scene("a shell that ends");
  await expect(brief.opening).rejects.toThrow("The shell did not start: bash: no such file");
  expect(brief.ended).toEqual(["/w"]);
  await expect(scene("a silent shell").opening).rejects.toThrow("The shell did not start: it ended with exit code 127");
});

test.each([
  ["", false, ""],
  ["error\n", false, "error\n"],
  ["bash: [12: 1 (255)] tcsetattr: Inappropriate ioctl for device\nerror\n", false, "error\n"],
  ["error\nexit\n", true, "error\n"],
  ["exit\n", true, ""],
  ["exit\nexit\nbye\n", true, "exit\nbye\n"],
  ["exit\n", false, "exit\n"],
  ["no exit\n", true, "no exit\n"],
  ["\n\n", false, ""],
  ["\nerror\n", false, "\nerror\n"],
])("of %j what bash itself says is left out, its exit if the shell has ended: %p", (output, hasEnded, left) => {
  expect(withoutShellNoise(output, hasEnded)).toBe(left);
});

test("a mark is an exit code and a folder, which may have colons", () => {
  expect(readMark("130:/a:b")).toEqual({ exitCode: 130, folder: "/a:b" });
});
