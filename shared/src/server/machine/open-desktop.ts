import type { Config } from "../../config/config.ts";
import type { LivePages } from "../../core/live-page.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";
import { computerUse } from "../../tools/desktop/computer-use.ts";
import { createDisplays, displayTiers } from "../../tools/desktop/display-session.ts";
import { screenInTurn } from "../../tools/desktop/live/screen-in-turn.ts";
import { shareScreens } from "../../tools/desktop/live/shared-screens.ts";
import { displayPrograms, missingPrograms } from "../../tools/desktop/missing-programs.ts";

/**
 * `computer_use`, if it is enabled and this machine has what it needs; otherwise no tools and, if
 * it is enabled, a note that says what to install.
 */
export type Desktop = {
  readonly tools: readonly Tool[];
  /** The open screens, for people. */
  readonly live?: LivePages;
  readonly note?: string;
  close(): Promise<void>;
};

const packages = "apt-get install -y --no-install-recommends xvfb xdotool openbox";

/**
 * The desktop family as configured, in the shell's sandbox. The caller closes it, which ends every
 * display.
 */
export async function openDesktop({ enabled, ...size }: Config["desktop"], sandbox: Sandbox): Promise<Desktop> {
  const none = (note?: string): Desktop => ({ tools: [], ...(note !== undefined && { note }), close: async () => {} });
  if (!enabled) return none();
  const { tier } = sandbox;
  if (!displayTiers.includes(tier))
    return none(
      `computer_use is off: a display needs a sandbox of tier ${displayTiers.join(" or ")}, and this one is ${tier}.`,
    );
  const missing = await missingPrograms(sandbox, displayPrograms);
  if (missing.length > 0)
    return none(`computer_use is off: ${missing.join(" and ")} not found. To add: ${packages}, then restart.`);
  const displays = createDisplays(sandbox, size);
  const screens = shareScreens({ displays, size });
  const tools = [screenInTurn(computerUse({ displays, size }), screens)];
  return { tools, live: screens.live, close: () => displays.close() };
}
