import { expect, jest, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { Page } from "playwright";
import type { LiveFrame } from "../../../core/live-page.ts";
import type { Workspace } from "../../../core/workspace.ts";
import type { Holds } from "../../live/holds.ts";
import type { Browsers } from "../browser.ts";
import { startScreencast } from "./screencast.ts";
import { watchedPages } from "./watched-pages.ts";

const workspace = {} as Workspace;

test("a viewer is told the page's address and its dialog, bounded, and that there is none while it closes", () => {
  const page = { url: () => `https://a.example/${"x".repeat(3_000)}` };
  const open = { active: () => ({ page }), dialog: () => undefined };
  const asking = { ...open, dialog: () => ({ kind: "confirm", message: "m".repeat(2_000) }) };
  const closing = {
    ...open,
    active: () => {
      throw new Error("The last tab has just closed.");
    },
  };
  const look = (browsing: object | undefined, held = false) =>
    watchedPages({ peek: () => browsing } as unknown as Browsers, { isHeld: () => held } as unknown as Holds).look(
      workspace,
    );
  const url = page.url().slice(0, 2_000);
  expect(look(open, true)).toEqual({ told: { page: "open", url, held: true }, shown: page as unknown as Page });
  expect(look(asking).told).toEqual({
    page: "open",
    url,
    held: false,
    dialog: { kind: "confirm", message: "m".repeat(1_000) },
  });
  for (const none of [undefined, closing]) expect(look(none, true)).toEqual({ told: { page: "none", held: false } });
});

test("pictures come one after the other, none too large, and none once the view has ended", async () => {
  jest.useFakeTimers();
  try {
    const sent: string[] = [];
    const session = Object.assign(new EventEmitter(), {
      send: async (method: string, { sessionId = 0 } = {}) =>
        void sent.push(sessionId === 0 ? method : `${method} ${sessionId}`),
      detach: async () => void sent.push("detached"),
    });
    const page = { context: () => ({ newCDPSession: async () => session }) } as unknown as Page;
    const frames: LiveFrame[] = [];
    const end = await startScreencast(page, (frame) => void frames.push(frame));
    const metadata = { deviceWidth: 1_279.6, deviceHeight: 800.2 };
    const draw = (sessionId: number, data: string) =>
      session.emit("Page.screencastFrame", { data, metadata, sessionId });
    draw(1, "a".repeat(1_400_000));
    draw(2, "a".repeat(1_400_001));
    expect(frames.map(({ frame, ...size }) => [frame.length, size])).toEqual([
      [1_400_000, { width: 1_280, height: 800 }],
    ]);
    jest.advanceTimersByTime(124);
    expect(sent).toEqual(["Page.startScreencast"]);
    jest.advanceTimersByTime(1);
    expect(sent).toEqual(["Page.startScreencast", "Page.screencastFrameAck 1", "Page.screencastFrameAck 2"]);
    draw(3, "b");
    end();
    draw(4, "c");
    jest.advanceTimersByTime(1_000);
    await new Promise(process.nextTick);
    expect([frames.length, sent.slice(3)]).toEqual([2, ["Page.stopScreencast", "detached"]]);
  } finally {
    jest.useRealTimers();
  }
});
