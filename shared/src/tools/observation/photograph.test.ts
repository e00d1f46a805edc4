import { expect, test } from "bun:test";
import type { Page } from "playwright";
import type { Browsing } from "../../machine/browser/browser.ts";
import { createSnapshotStates } from "./elements/snapshot-state.ts";
import { photograph } from "./photograph.ts";

/** The picture of a page with a window of this size, what was asked of it, and its scale. */
async function pictureOf(size: { width: number; height: number } | null, { fails = false, blocked = false } = {}) {
  const asked: unknown[] = [];
  const session = {
    send: async (method: string, options?: object) => {
      asked.push([method, options]);
      if (fails) throw new Error("It cannot be drawn.");
      return method === "Page.getLayoutMetrics"
        ? { cssVisualViewport: { pageX: 5, pageY: 600, clientWidth: 9, clientHeight: 9 } }
        : { data: "smaller" };
    },
    detach: async () => void asked.push("detached"),
  };
  const page = {
    viewportSize: () => size,
    context: () => ({ newCDPSession: async () => session }),
    screenshot: async (options: object) => {
      asked.push(options);
      if (fails) throw new Error("It cannot be drawn.");
      return Buffer.from("drawn");
    },
  } as unknown as Page;
  const { signal } = new AbortController();
  const browsing = {
    act: async (run: (of: Page) => Promise<unknown>, options: { signal: AbortSignal }) => {
      expect(options.signal).toBe(signal);
      return blocked ? undefined : await run(page);
    },
  } as unknown as Browsing;
  const looks = createSnapshotStates().of(browsing);
  const taken = await photograph(browsing, looks, { columns: 1, rows: 1, cells: [] }, signal);
  const image = taken?.image;
  return { image, asked, scale: looks.scale?.page === page ? looks.scale.factor : undefined };
}
const jpeg = { type: "image", mediaType: "image/jpeg" } as const;

test("a window of usual size is pictured pixel by pixel, and a larger one smaller, where it is scrolled to", async () => {
  const usual = { type: "jpeg", quality: 50, scale: "css", timeout: 8_000 };
  // What is compared with the next picture.
  const exact = { type: "png", scale: "css", timeout: 8_000 };
  for (const size of [{ width: 1_280, height: 800 }, { width: 800, height: 1_280 }, null])
    expect(await pictureOf(size)).toEqual({
      image: { ...jpeg, data: Buffer.from("drawn").toString("base64") },
      asked: [usual, exact],
      scale: 1,
    });
  for (const [width, height] of [
    [2_560, 900],
    [900, 2_560],
  ] as const)
    expect(await pictureOf({ width, height })).toEqual({
      image: { ...jpeg, data: "smaller" },
      asked: [
        ["Page.getLayoutMetrics", undefined],
        ["Page.captureScreenshot", { format: "jpeg", quality: 50, clip: { x: 5, y: 600, width, height, scale: 0.5 } }],
        "detached",
        exact,
      ],
      // What a model points at in the picture is twice as far in the window.
      scale: 2,
    });
});

test("a page that cannot be drawn, or that a dialog blocks, has no picture", async () => {
  expect((await pictureOf(null, { fails: true })).image).toBeUndefined();
  const large = await pictureOf({ width: 2_560, height: 900 }, { fails: true });
  expect([large.image, large.asked.at(-1)]).toEqual([undefined, "detached"]);
  expect((await pictureOf(null, { blocked: true })).image).toBeUndefined();
});
