import { AppError } from "../../../core/errors.ts";
import type { LiveFrame, LivePages } from "../../../core/live-page.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { createHolds, type HoldBounds, type Holds, type Shareable } from "../../../machine/live/holds.ts";
import { createLivePages, type Watchable } from "../../../machine/live/live-pages.ts";
import type { SessionPool } from "../../shell/session-pool.ts";
import { runOnDisplay } from "../display-calls.ts";
import { pictureFile, type ScreenSize } from "../display-session.ts";
import { encodeFrame, pictureBytes } from "../framebuffer.ts";
import { personCall } from "./person-call.ts";

/** The displays of conversations, all of the same size. */
type Displays = { readonly displays: SessionPool; readonly size: ScreenSize };

/** The screens of conversations, for an agent and a person in turn. */
export type SharedScreens = {
  readonly holds: Holds;
  readonly live: LivePages;
  /** What an agent is told of a person's use of its screen, until it has seen the screen. */
  usedText(workspace: Workspace): string;
};

const inputMs = 10_000;
const characterMs = 150;
const frameMs = 15_000;
const everyMs = 400;

/** Sends nothing if the picture is as it was when this was last asked for, unless it is to. */
const changedPicture =
  '[ "$3" = all ] || ! cmp -s -- "$1" "$1.shown" || exit 0; cp -- "$1" "$1.shown" && head -c "$2" -- "$1.shown"';

/** Screens that a person may watch, take and use. */
export function shareScreens({ displays, size }: Displays, bounds: Partial<HoldBounds> = {}): SharedScreens {
  const told = new WeakMap<object, string>();
  const places = new WeakMap<object, Workspace>();
  const peek = (workspace: Workspace) => {
    const session = displays.peek(workspace);
    if (session !== undefined) places.set(session, workspace);
    return session;
  };
  const run = async (session: object, argv: readonly string[], timeoutMs: number) => {
    const workspace = places.get(session);
    // Another session would be another screen.
    if (workspace === undefined || peek(workspace) !== session)
      throw new AppError("conflict", "The screen was closed.");
    const signal = AbortSignal.timeout(2 * timeoutMs);
    try {
      return await runOnDisplay(displays, { workspace, signal }, argv, timeoutMs);
    } catch (error) {
      if (error === signal.reason) throw new AppError("timeout", "The screen is busy.");
      throw error;
    }
  };
  const shared: Shareable<object> = {
    name: "screen",
    peek,
    async use(session, input) {
      const argv = personCall(input, size);
      const timeoutMs = inputMs + (input.type === "text" ? input.text.length * characterMs : 0);
      try {
        await run(session, ["xdotool", ...argv], timeoutMs);
      } catch (error) {
        if (error instanceof AppError && error.code === "conflict") throw error;
        // What xdotool says of it may hold what was typed.
        throw new AppError("unavailable", "The screen did not accept that.");
      }
    },
    async handedBack(session, _, seconds) {
      told.set(session, `A person used the screen for ${seconds} s and handed it back.`);
    },
  };
  const holds = createHolds(shared, bounds);
  const watchable: Watchable<object> = {
    look(workspace) {
      const shown = peek(workspace);
      if (shown === undefined) return { told: { page: "none", held: false } };
      return { told: { page: "open", held: holds.isHeld(workspace) }, shown };
    },
    film: async (session, onFrame, onBug) =>
      filming(
        (isFirst) => {
          const read = ["/bin/bash", "-c", changedPicture, "picture", pictureFile, String(pictureBytes(size))];
          return run(session, [...read, isFirst ? "all" : "changed"], frameMs);
        },
        size,
        { onFrame, onBug },
      ),
  };
  return {
    holds,
    live: createLivePages(watchable, holds),
    usedText: (workspace) => told.get(peek(workspace) ?? told) ?? "",
  };
}

/** Sends a picture whenever there is another, until what it returns is called. */
function filming(
  read: (isFirst: boolean) => Promise<{ readonly stdout: Buffer }>,
  size: ScreenSize,
  { onFrame, onBug }: { onFrame(frame: LiveFrame): void; onBug(bug: unknown): void },
): () => void {
  const gone = new AbortController();
  const film = async () => {
    let isFirst = true;
    while (!gone.signal.aborted) {
      try {
        const { stdout } = await read(isFirst);
        if (stdout.length > 0) {
          const frame = Buffer.from(await encodeFrame(stdout, size)).toString("base64");
          isFirst = false;
          if (!gone.signal.aborted) onFrame({ frame, ...size });
        }
      } catch (error) {
        // The screen is gone, or busy; whoever watches sees which.
        if (!(error instanceof AppError)) return onBug(error);
      }
      await Bun.sleep(everyMs);
    }
  };
  void film();
  return () => gone.abort();
}
