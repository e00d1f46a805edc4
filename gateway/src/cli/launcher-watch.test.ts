import { expect, spyOn, test } from "bun:test";
import { endWithLauncher } from "./launcher-watch.ts";

/** What a process does that this launcher started, at each look; its environment afterwards. */
function watched(launcher: string | undefined) {
  const env = { MANYHANDS_LAUNCHER_PID: launcher, KEPT: "yes" };
  let look = () => undefined as unknown;
  let held = true;
  const timer = { unref: () => (held = false) };
  using setting = spyOn(globalThis, "setInterval").mockImplementation(((act: () => unknown) => {
    look = act;
    return timer;
  }) as never);
  endWithLauncher(env);
  const began = setting.mock.calls.length;
  using leaving = spyOn(globalThis, "setTimeout").mockReturnValue(timer as never);
  using ending = spyOn(process, "kill").mockReturnValue(true);
  using clearing = spyOn(globalThis, "clearInterval").mockReturnValue(undefined);
  look();
  const [[, graceMs] = []] = leaving.mock.calls as unknown[][];
  return { env, began, held, ended: ending.mock.calls, graceMs, stopped: clearing.mock.calls.length };
}

test("a process ends as soon as its launcher is gone, and holds nothing open to see it; no child inherits that", () => {
  const env = { KEPT: "yes" };
  expect(watched(String(process.ppid))).toMatchObject({ env, began: 1, held: false, ended: [], stopped: 0 });
  const orphan = watched(String(process.ppid + 1));
  expect(orphan).toMatchObject({ began: 1, ended: [[process.pid, "SIGTERM"]], graceMs: 30_000, stopped: 1 });
  expect(orphan.env).not.toHaveProperty("MANYHANDS_LAUNCHER_PID");
  for (const none of [undefined, "", "x", "0"]) expect([none, watched(none).began]).toEqual([none, 0]);
});
