import { AppError } from "../../core/errors.ts";
import type { LiveFrame, LivePages, LiveState } from "../../core/live-page.ts";
import type { Workspace } from "../../core/workspace.ts";
import type { Holds } from "./holds.ts";

const maxViewers = 4;
const maxWatched = 16;
const lookMs = 250;

/** What can be watched: what is shown of a conversation now, and pictures of that. */
export type Watchable<Shown extends object> = {
  look(workspace: Workspace): { readonly told: LiveState; readonly shown?: Shown };
  /**
   * Sends pictures of it whenever it changes. Resolves with what ends that. What is no expected
   * failure goes to `onBug`, and ends it too.
   */
  film(shown: Shown, onFrame: (frame: LiveFrame) => void, onBug: (bug: unknown) => void): Promise<() => void>;
};

/** A conversation's page or screen while somebody watches it. */
type Stage<Shown extends object> = {
  readonly viewers: Set<() => void>;
  state: LiveState;
  frame: LiveFrame | undefined;
  /** Why no more pictures are taken of it: everybody who watches it is told. */
  bug: { readonly error: unknown } | undefined;
  /** What pictures are taken of, and what ends that. */
  shown: Shown | undefined;
  stop: (() => void) | undefined;
  timer: ReturnType<typeof setInterval> | undefined;
};

/** The live pages, or screens, that can be watched and held. */
export function createLivePages<Shown extends object>(watchable: Watchable<Shown>, holds: Holds): LivePages {
  const stages = new Map<string, Stage<Shown>>();
  const stageOf = (workspace: Workspace): Stage<Shown> => {
    const known = stages.get(workspace.root);
    if (known !== undefined) return known;
    if (stages.size >= maxWatched) throw tooMany("pages");
    const state: LiveState = { page: "none", held: false };
    const stage: Stage<Shown> = {
      ...{ viewers: new Set(), state, frame: undefined, bug: undefined },
      ...{ shown: undefined, stop: undefined, timer: undefined },
    };
    stages.set(workspace.root, stage);
    const look = () => update(stage, watchable, workspace);
    look();
    stage.timer = setInterval(look, lookMs);
    return stage;
  };
  const leave = (workspace: Workspace, stage: Stage<Shown>, viewer: () => void): void => {
    stage.viewers.delete(viewer);
    if (stage.viewers.size > 0) return;
    clearInterval(stage.timer);
    show(stage, watchable, undefined);
    stages.delete(workspace.root);
  };
  return (workspace) => ({
    async *watch(signal) {
      const stage = stageOf(workspace);
      if (stage.viewers.size >= maxViewers) throw tooMany("viewers of this page");
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
          if (stage.bug !== undefined) throw stage.bug.error;
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
      if (order.do === "input") await holds.input(workspace, order.inputs, order.burst);
      const stage = stages.get(workspace.root);
      if (stage !== undefined) update(stage, watchable, workspace);
    },
  });
}

function tooMany(what: string): AppError {
  return new AppError("rate_limited", `There are too many ${what} at once. Close one first.`);
}

/** Looks at what is open, and tells the viewers if something is different. */
function update<Shown extends object>(stage: Stage<Shown>, watchable: Watchable<Shown>, workspace: Workspace): void {
  const state = watchable.look(workspace);
  show(stage, watchable, state.shown);
  if (JSON.stringify(state.told) === JSON.stringify(stage.state)) return;
  stage.state = state.told;
  for (const wake of stage.viewers) wake();
}

/** Takes pictures of this from now on, of no other. */
function show<Shown extends object>(stage: Stage<Shown>, { film }: Watchable<Shown>, shown: Shown | undefined): void {
  if (stage.shown === shown) return;
  stage.stop?.();
  stage.stop = undefined;
  stage.frame = undefined;
  stage.bug = undefined;
  stage.shown = shown;
  if (shown === undefined) return;
  const isShown = () => stage.shown === shown;
  const onFrame = (frame: LiveFrame) => {
    if (!isShown()) return;
    stage.frame = frame;
    for (const wake of stage.viewers) wake();
  };
  const onBug = (error: unknown) => {
    if (!isShown()) return;
    stage.bug = { error };
    for (const wake of stage.viewers) wake();
  };
  film(shown, onFrame, onBug).then(
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
