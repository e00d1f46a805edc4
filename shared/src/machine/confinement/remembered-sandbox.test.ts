import { expect, test } from "bun:test";
import { unprivilegedUser } from "../process/step-down.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { rememberedSandbox } from "./remembered-sandbox.ts";

/** What this process would open now, and what was done with it. */
function scene({
  tier = "bwrap",
  profile = "own-proc",
}: {
  tier?: Sandbox["tier"];
  profile?: Sandbox["profile"];
} = {}) {
  const done: string[] = [];
  const found: Sandbox = {
    ...{ tier, description: "found now", user: undefined },
    ...(profile && { profile }),
    async spawn({ argv }) {
      done.push(`spawn ${argv.join(" ")}`);
      return "started" as never;
    },
    close: async () => void done.push("close"),
  };
  const state = { opening: Promise.resolve() };
  const open = async () => {
    done.push("open");
    await state.opening;
    return found;
  };
  const known = { tier: "bwrap", profile: "own-proc", description: "found before" } as const;
  const sandbox = rememberedSandbox(known, open, async () => void done.push("wrong"));
  return { done, state, sandbox };
}
const command = { argv: ["true"], workspace: "/w" };

test("a sandbox is as it was remembered, and opened once, for the first command", async () => {
  const { sandbox, done } = scene();
  expect(sandbox).toMatchObject({ tier: "bwrap", profile: "own-proc", description: "found before" });
  // Files that are made before the first command have the owner that its own will have.
  expect(sandbox.user).toEqual(unprivilegedUser() as never);
  expect(done).toEqual([]);
  const started: unknown[] = await Promise.all([sandbox.spawn(command), sandbox.spawn(command)]);
  expect(started).toEqual(["started", "started"]);
  await sandbox.close();
  expect(done).toEqual(["open", "spawn true", "spawn true", "close"]);
});

test.each([
  [{ tier: "landlock", profile: undefined }],
  [{ tier: "bwrap", profile: "no-proc" }],
  [{ tier: "none", profile: undefined }],
] as const)("no command runs where it has become %j, and the next start looks again", async (now) => {
  const { sandbox, done } = scene(now);
  const refused = { code: "sandbox_unavailable", message: expect.stringContaining("confined by bwrap own-proc") };
  await expect(sandbox.spawn(command)).rejects.toMatchObject(refused);
  expect(done).toEqual(["open", "close", "wrong"]);
});

test("one that was closed runs nothing, whether it was opened, is being opened, or never was", async () => {
  const closed = { code: "sandbox_unavailable", message: "The sandbox has been closed." };
  const never = scene();
  await never.sandbox.close();
  await expect(never.sandbox.spawn(command)).rejects.toMatchObject(closed);
  expect(never.done.filter((what) => what !== "open" && what !== "close")).toEqual([]);
  const slow = scene();
  const opening = Promise.withResolvers<void>();
  slow.state.opening = opening.promise;
  const spawning = slow.sandbox.spawn(command);
  const closing = slow.sandbox.close();
  opening.resolve();
  await expect(spawning).rejects.toMatchObject(closed);
  await closing;
  expect(slow.done).toEqual(["open", "close"]);
});
