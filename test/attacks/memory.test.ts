import { expect, test } from "bun:test";
import { runCommand } from "../../shared/src/machine/sandbox/run-command.ts";
import { availableTiers, openTier } from "../../shared/src/testing/sandbox/tiers.ts";
import { bashTool, createShellSessions } from "../../shared/src/tools/shell/bash-tool.ts";

/** Without `srt`, which is bwrap's profile with another egress proxy. */
const tiers = (await availableTiers()).filter((tier) => tier !== "srt");

test.each(tiers)(
  "tier %s: ten background processes hold no more memory than their conversation may, and the call that started them says so",
  async (tier) => {
    const limits = { memoryBytes: 300 * 2 ** 20, processes: 4096 };
    const open = await openTier(tier, { limits });
    const sessions = createShellSessions(open.sandbox);
    try {
      const each = `python3 -c 'x = b"1" * (60 * 2 ** 20); import time; time.sleep(120)' &`;
      const command = `for one in 1 2 3 4 5 6 7 8 9 10; do ${each} done; sleep 6; jobs -r | wc -l`;
      const context = open.context("greedy");
      const { text, isError } = await bashTool({ sessions }).call({ command, timeout: 30 }, context);
      expect([text, isError]).toEqual([expect.stringContaining("stopped at its limit: memory 300 MB"), true]);
      const left = Number(/^\s*(\d+)$/m.exec(text)?.[1]);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThan(6);
      // The session continues, and is notified of it once.
      const next = await bashTool({ sessions }).call({ command: "echo on" }, context);
      expect([next.text, next.isError]).toEqual([expect.stringMatching(/^on\n\[exit code 0/), false]);
      // The session's memory counts for a command beside it.
      const greedy = ["python3", "-c", `x = b"1" * (250 * 2 ** 20); import time; time.sleep(5); print("held")`];
      const beside = { argv: greedy, workspace: open.workspace };
      const outcome = await runCommand(open.sandbox, beside, { signal: AbortSignal.timeout(60_000) });
      expect(outcome.stdout === "held\n" && (await jobsLeft(sessions, context)) === left).toBe(false);
    } finally {
      await sessions.close();
      await open.close();
    }
  },
);

async function jobsLeft(
  sessions: ReturnType<typeof createShellSessions>,
  context: Parameters<ReturnType<typeof bashTool>["call"]>[1],
) {
  const { text } = await bashTool({ sessions }).call({ command: "jobs -r | wc -l" }, context);
  return Number(/^\s*(\d+)$/m.exec(text)?.[1]);
}
