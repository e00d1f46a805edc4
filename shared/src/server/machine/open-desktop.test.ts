import { afterAll, expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox } from "../../machine/confinement/create-sandbox.ts";
import type { Sandbox, SandboxTier } from "../../machine/sandbox/sandbox.ts";
import * as displays from "../../tools/desktop/display-session.ts";
import * as turns from "../../tools/desktop/live/screen-in-turn.ts";
import { openDesktop } from "./open-desktop.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-open-desktop-"));
const unconfined = await createSandbox({ mode: "off", folder, network: { allow: [] }, limits: {} });
afterAll(async () => {
  await unconfined.close();
  await rm(folder, { recursive: true });
});

/** A sandbox that calls itself so, whose commands find these programs. */
const having = (tier: SandboxTier, ...programs: readonly string[]): Sandbox => ({
  ...unconfined,
  tier,
  spawn: (command) => unconfined.spawn({ ...command, argv: ["/bin/echo", programs.join("\n")] }),
});
const opened = async (sandbox: Sandbox, enabled = true) => {
  const { tools, live, note, close } = await openDesktop({ enabled, width: 900, height: 700 }, sandbox);
  await close();
  return { names: tools.map(({ name }) => name), live: live !== undefined, note };
};
const add = "To add: apt-get install -y --no-install-recommends xvfb xdotool openbox, then restart.";

test("an agent has a desktop where the settings want one, the sandbox confines it and its programs are there", async () => {
  for (const tier of ["srt", "bwrap"] as const)
    expect(await opened(having(tier, "Xvfb", "xdotool"))).toEqual({
      names: ["computer_use"],
      live: true,
      note: undefined,
    });
  expect(await opened(having("bwrap", "Xvfb", "xdotool"), false)).toEqual({ names: [], live: false, note: undefined });
});

test("a screen is used in turn with the people who see it, and its displays end with the desktop", async () => {
  const closed: string[] = [];
  const close = async () => void closed.push("displays");
  using created = spyOn(displays, "createDisplays").mockReturnValue({ close } as never);
  using taken = spyOn(turns, "screenInTurn").mockImplementation((tool) => ({ ...tool, description: "In turn." }));
  const sandbox = having("bwrap", "Xvfb", "xdotool");
  const { tools, close: end } = await openDesktop({ enabled: true, width: 900, height: 700 }, sandbox);
  expect(created.mock.calls).toEqual([[sandbox, { width: 900, height: 700 }]]);
  expect([tools.map(({ description }) => description), taken.mock.calls.length]).toEqual([["In turn."], 1]);
  expect(closed).toEqual([]);
  await end();
  expect(closed).toEqual(["displays"]);
});

test.each<readonly [Sandbox, string]>([
  [having("off", "Xvfb", "xdotool"), "a display needs a sandbox of tier srt or bwrap, and this one is off."],
  [having("none", "Xvfb", "xdotool"), "a display needs a sandbox of tier srt or bwrap, and this one is none."],
  [having("bwrap", "Xvfb"), `xdotool not found. ${add}`],
  [having("srt"), `Xvfb and xdotool not found. ${add}`],
])("where something is missing there is none, and the operator learns what: %#", async (sandbox, why) => {
  expect(await opened(sandbox)).toEqual({ names: [], live: false, note: `computer_use is off: ${why}` });
});
