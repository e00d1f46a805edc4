import type { Page } from "playwright";
import { AppError } from "../../../core/errors.ts";
import type { LiveFrame, LivePages, LiveState } from "../../../core/live-page.ts";
import type { Workspace } from "../../../core/workspace.ts";
import type { Browsers } from "../browser.ts";
import type { Holds } from "./holds.ts";
import { startScreencast } from "./screencast.ts";

const mostViewers = 4;
const mostWatched = 16;
const lookMs = 250;

/** A conversation's page while somebody watches it. */
type Stage = {
  readonly viewers: Set<() => void>;
  state: LiveState;
  frame: LiveFrame | undefined;
  /** The page that pictures are taken of, and what ends that. */
  shown: Page | undefined;
  stop: (() => void) | undefined;
  timer: ReturnType<typeof setInterval> | undefined;
};

/** The live pages of these browsers. */
export function createLivePages(browsers: Browsers, holds: Holds): LivePages {
  const stages = new Map<string, Stage>();
  const stageOf = (workspace: Workspace): Stage => {
    const known = stages.get(workspace.root);
    if (known !== undefined) return known;
    if (stages.size >= mostWatched) throw tooMany("pages");
    const state: LiveState = { page: "none", held: false };
    const stage: Stage = {
      ...{ viewers: new Set(), state, frame: undefined },
      ...{ shown: undefined, stop: undefined, timer: undefined },
    };
    stages.set(workspace.root, stage);
    const look = () => update(stage, browsers, holds, workspace);
    look();
    stage.timer = setInterval(look, lookMs);
    return stage;
  };
  const leave = (workspace: Workspace, stage: Stage, viewer: () => void): void => {
    stage.viewers.delete(viewer);
    if (stage.viewers.size > 0) return;
    clearInterval(stage.timer);
    show(stage, undefined);
    stages.delete(workspace.root);
  };
  return (workspace) => ({
    async *watch(signal) {
      const stage = stageOf(workspace);
      if (stage.viewers.size >= mostViewers) throw tooMany("viewers of this page");
      let wake = () => {};
      const viewer = () => wake();
      stage.viewers.add(viewer);
      signal.addEventListener("abort", viewer, { once: true });
      let state: LiveState | undefined;
      let frame: LiveFrame | undefined;
      try {
        while (!signal.aborted) {
          const woken = new Promise<void>((done) => {
            wake = done;
          });
          if (stage.state !== state) {
            state = stage.state;
            yield state;
          } else if (stage.frame !== undefined && stage.frame !== frame) {
            frame = stage.frame;
            yield frame;
          } else await woken;
        }
      } finally {
        signal.removeEventListener("abort", viewer);
        leave(workspace, stage, viewer);
      }
    },
    async order(order) {
      if (order.do === "take") await holds.take(workspace);
      if (order.do === "hand-back") await holds.handBack(workspace);
      if (order.do === "input") await holds.input(workspace, order.inputs);
      const stage = stages.get(workspace.root);
      if (stage !== undefined) update(stage, browsers, holds, workspace);
    },
  });
}

function tooMany(what: string): AppError {
  return new AppError("rate_limited", `There are too many ${what} at once. Close one first.`);
}

/** Looks at which page is open, and tells the viewers if something is different. */
function update(stage: Stage, browsers: Browsers, holds: Holds, workspace: Workspace): void {
  const state = stateOf(browsers, holds, workspace);
  show(stage, state.shown);
  if (JSON.stringify(state.told) === JSON.stringify(stage.state)) return;
  stage.state = state.told;
  for (const wake of stage.viewers) wake();
}

function stateOf(browsers: Browsers, holds: Holds, workspace: Workspace): { told: LiveState; shown?: Page } {
  try {
    const browsing = browsers.peek(workspace);
    if (browsing === undefined) return { told: { page: "none", held: false } };
    const { page } = browsing.active();
    const dialog = browsing.dialog();
    const blocked = dialog && { kind: dialog.kind, message: dialog.message.slice(0, 1_000) };
    const held = holds.isHeld(workspace);
    return {
      told: { page: "open", url: page.url().slice(0, 2_000), held, ...(blocked && { dialog: blocked }) },
      shown: page,
    };
  } catch {
    // The browser is closing, or its last tab has just closed.
    return { told: { page: "none", held: false } };
  }
}

/** Takes pictures of this page from now on, of no other. */
function show(stage: Stage, page: Page | undefined): void {
  if (stage.shown === page) return;
  stage.stop?.();
  stage.stop = undefined;
  stage.frame = undefined;
  stage.shown = page;
  if (page === undefined) return;
  const isShown = () => stage.shown === page;
  const onFrame = (frame: LiveFrame) => {
    if (!isShown()) return;
    stage.frame = frame;
    for (const wake of stage.viewers) wake();
  };
  startScreencast(page, onFrame).then(
    (stop) => {
      if (isShown()) stage.stop = stop;
      else stop();
    },
    () => {
      // Tried again at the next look.
      if (isShown()) stage.shown = undefined;
    },
  );
}
