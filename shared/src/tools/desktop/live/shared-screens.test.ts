import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { LiveFrame, LivePage } from "../../../core/live-page.ts";
import { availableTiers, type OpenTier, openTier } from "../../../testing/sandbox/tiers.ts";
import type { SessionPool } from "../../shell/session-pool.ts";
import { computerUse } from "../computer-use.ts";
import { createDisplays, displayTiers } from "../display-session.ts";
import { displayPrograms, missingPrograms } from "../missing-programs.ts";
import { screenInTurn } from "./screen-in-turn.ts";
import { type SharedScreens, shareScreens } from "./shared-screens.ts";

const size = { width: 640, height: 480 };
const tiers = (await availableTiers()).filter((tier) => displayTiers.includes(tier));
const lacking = await missingHere([...displayPrograms, "xterm"]);

async function missingHere(names: readonly string[]): Promise<readonly string[]> {
  const { sandbox, close } = await openTier("auto");
  const missing = sandbox.tier === "none" ? names : await missingPrograms(sandbox, names);
  await close();
  return missing;
}

// Without these programs, or a tier for displays, there is no desktop to share.
describe.each(lacking.length === 0 ? tiers.slice(-1) : [])("a desktop in two hands on tier %s", (tier) => {
  let open: OpenTier;
  let displays: SessionPool;
  let screens: SharedScreens;
  const told: string[] = [];
  const context = () => ({ ...open.context("conversation"), progress: (text: string) => void told.push(text) });
  const call = (input: Record<string, unknown>) =>
    screenInTurn(computerUse({ displays, size }), screens).call(input, context());
  beforeAll(async () => {
    open = await openTier(tier);
    displays = createDisplays(open.sandbox, size);
    screens = shareScreens({ displays, size });
  });
  afterAll(async () => {
    await displays?.close();
    await open?.close();
  });

  async function nextFrame(page: LivePage, isIt: (frame: LiveFrame) => boolean): Promise<LiveFrame> {
    const gone = AbortSignal.timeout(60_000);
    for await (const item of page.watch(gone)) if ("frame" in item && isIt(item)) return item;
    throw new Error("no such picture");
  }

  test("a person watches the screen, takes it, types, and hands it back; the agent waits and is told", async () => {
    const page = screens.live(context().workspace);
    const first = page.watch(AbortSignal.timeout(60_000));
    expect((await first.next()).value).toEqual({ page: "none", held: false });
    await first.return();
    expect(displays.peek(context().workspace)).toBeUndefined();
    await expect(page.order({ do: "take" })).rejects.toMatchObject({ code: "conflict" });

    expect((await call({ action: "launch", command: "xterm -fullscreen -e cat" })).isError).toBe(false);
    const before = await nextFrame(page, () => true);
    expect([before.width, before.height]).toEqual([640, 480]);
    expect(Buffer.from(before.frame, "base64").subarray(0, 2).toString("hex")).toBe("ffd8");

    await page.order({ do: "take" });
    const waiting = call({ action: "typing", text: "agent" });
    const pointer = { type: "pointer", x: 300, y: 200, button: "left", clicks: 1 } as const;
    await page.order({
      do: "input",
      inputs: [
        { ...pointer, act: "down" },
        { ...pointer, act: "up" },
        { type: "text", text: "my secret word" },
        { type: "key", key: "Enter" },
      ],
    });
    await nextFrame(page, ({ frame }) => frame !== before.frame);
    expect(told).toContain("A person has the screen. The call waits until they hand it back.\n");
    await page.order({ do: "hand-back" });

    const refused = await waiting;
    expect(refused.isError).toBe(true);
    expect(refused.text).toMatch(/^Not done: A person used the screen for \d+ s and handed it back\./);
    expect((await call({ action: "press", key: "a" })).isError).toBe(true);
    const seen = await call({ action: "screenshot" });
    expect(seen.text).toMatch(/^A person used the screen for \d+ s and handed it back\.\nThe screen/);
    expect((await call({ action: "press", key: "a" })).isError).toBe(false);
    expect(JSON.stringify([told, refused.text, seen.text])).not.toContain("secret");
    await expect(page.order({ do: "input", inputs: [{ type: "text", text: "x" }] })).rejects.toMatchObject({
      code: "conflict",
    });
  }, 120_000);
});
