import { expect, spyOn, test } from "bun:test";
import type { LiveFrame } from "../../../core/live-page.ts";
import {
  type DisplayAnswer,
  type DisplayCall,
  displaysByHand,
  pictureOf,
} from "../../../testing/sandbox/desktop-by-hand.ts";
import { shareScreens } from "./shared-screens.ts";

const size = { width: 4, height: 2 };
const workspace = { root: "/w" } as never;

function scene(answer?: (call: DisplayCall) => DisplayAnswer) {
  const desktop = displaysByHand(answer);
  const screens = shareScreens({ displays: desktop.displays, size });
  const page = screens.live(workspace);
  const input = (...inputs: readonly object[]) => page.order({ do: "input", inputs: inputs as never });
  return { ...desktop, screens, page, input };
}

test("what a person does takes longer the longer the text is, and a failure does not quote it", async () => {
  const it = scene(({ argv }) => (argv.includes("secret") ? { payload: "1", stderr: "cannot type secret" } : {}));
  await it.page.order({ do: "take" });
  await it.input({ type: "text", text: "a".repeat(100) }, { type: "key", key: "Enter" });
  expect(it.calls.map(({ argv, options }) => [argv[1], options.timeoutMs])).toEqual([
    ["type", 25_000],
    ["key", 10_000],
  ]);
  await expect(it.input({ type: "text", text: "secret" })).rejects.toMatchObject({
    code: "unavailable",
    message: "The screen did not accept that.",
  });
});

test("a screen that was closed, or replaced by another, is not acted on any more", async () => {
  const it = scene();
  await it.page.order({ do: "take" });
  it.state.session = {};
  await expect(it.input({ type: "key", key: "a" })).rejects.toMatchObject({ code: "conflict" });
  it.state.session = undefined;
  await expect(it.page.order({ do: "take" })).rejects.toMatchObject({
    code: "conflict",
    message: "No screen is open.",
  });
  expect(it.calls).toEqual([]);
});

test("who watches is told who has the screen, and what was done to one that was replaced is not done to the next", async () => {
  const it = scene(({ argv }) => {
    // Another screen takes its place in the middle of it.
    if (argv.includes("first")) it.state.session = {};
    return {};
  });
  const stages: unknown[] = [];
  const watch = async () => {
    for await (const item of it.page.watch(AbortSignal.timeout(20_000))) if ("page" in item) return item;
    return undefined;
  };
  stages.push(await watch());
  await it.page.order({ do: "take" });
  stages.push(await watch());
  expect(stages).toEqual([
    { page: "open", held: false },
    { page: "open", held: true },
  ]);
  await expect(it.input({ type: "text", text: "first" }, { type: "text", text: "second" })).rejects.toMatchObject({
    code: "conflict",
    message: "The screen was closed.",
  });
  expect(it.calls.map(({ argv }) => argv.at(-1)).filter((word) => word === "first" || word === "second")).toEqual([
    "first",
  ]);
});

test("an agent is told of a person's use of its own screen alone", async () => {
  const it = scene();
  expect(it.screens.usedText(workspace)).toBe("");
  await it.page.order({ do: "take" });
  await it.input({ type: "key", key: "a" });
  await it.page.order({ do: "hand-back" });
  expect(it.screens.usedText(workspace)).toMatch(/^A person used the screen for \d+ s and handed it back\.$/);
  it.state.session = {};
  expect(it.screens.usedText(workspace)).toBe("");
});

test("a viewer gets the whole picture first, then others as the screen changes, and none once they have left", async () => {
  const answers: DisplayAnswer[] = [{ stdout: "" }, { stdout: pictureOf(size) }, {}, { payload: "1" }];
  const it = scene(() => answers.shift() ?? { stdout: pictureOf(size, 0) });
  const { sleep } = Bun;
  using _ = spyOn(Bun, "sleep").mockImplementation((ms) => sleep(Number(ms) / 100));
  const frames: LiveFrame[] = [];
  for await (const item of it.page.watch(AbortSignal.timeout(20_000))) {
    if ("frame" in item) frames.push(item);
    if (frames.length === 2) break;
  }
  expect(frames.map(({ width, height }) => [width, height])).toEqual([
    [4, 2],
    [4, 2],
  ]);
  expect(frames[0]?.frame).not.toBe(frames[1]?.frame);
  const asked = it.calls.map(({ argv }) => argv.at(-1));
  expect(asked.slice(0, 5)).toEqual(["all", "all", "changed", "changed", "changed"]);
  expect(it.calls[0]?.options.timeoutMs).toBe(15_000);
  const after = it.calls.length;
  for (let wait = 0; wait < 5; wait++) await sleep(10);
  expect(it.calls.length - after).toBeLessThanOrEqual(1);
});
