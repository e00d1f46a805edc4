import { type ReadonlySignal, signal } from "@preact/signals";
import type { LiveFrame, LiveState } from "manyhands/internal/core/live-page";
import { newKey, ProblemError } from "../../../api/client.ts";
import { type LivePlace, orderPage, type PageInput, watchPage } from "../../../api/live.ts";
import { announce } from "../../../parts/announcer.tsx";
import { complain } from "../../../parts/toast.tsx";
import { answerAboutPage } from "../../../state/page-question.ts";
import { words } from "../../../words/words.ts";

/** What a view of a page is at; `refused` if it cannot be shown to this reader. */
export type Phase = "connecting" | "none" | "watching" | "held" | "handed-back" | "ended" | "refused";

/** A page of an agent, as somebody watches or uses it. */
export type LiveStore = {
  readonly phase: ReadonlySignal<Phase>;
  readonly state: ReadonlySignal<LiveState | undefined>;
  readonly frame: ReadonlySignal<LiveFrame | undefined>;
  take(): Promise<void>;
  /** Hands it back, and answers the question that it was taken for. */
  handBack(): Promise<void>;
  /** Sends an input after those before it. */
  send(input: PageInput): void;
  close(): void;
};

const againMs = 1_500;
const maxAtOnce = 50;

/** Opens a view of the page that a task has open. */
export function openLiveStore(place: LivePlace): LiveStore {
  const phase = signal<Phase>("connecting");
  const state = signal<LiveState | undefined>(undefined);
  const frame = signal<LiveFrame | undefined>(undefined);
  const gone = new AbortController();
  const enter = (next: Phase) => {
    if (phase.value === next) return;
    phase.value = next;
    announce(words().livePage.phasesOf[place.screen][next]);
  };
  const take = (now: LiveState) => {
    const wasHeld = state.value?.held === true || phase.value === "handed-back";
    state.value = now;
    if (now.page === "none") frame.value = undefined;
    enter(now.held ? "held" : now.page === "none" ? "none" : wasHeld ? "handed-back" : "watching");
  };
  const follow = async () => {
    while (!gone.signal.aborted) {
      try {
        for await (const item of watchPage(place, gone.signal)) {
          if ("ended" in item) return enter("ended");
          if ("frame" in item) frame.value = item;
          else take(item);
        }
      } catch (error) {
        if (gone.signal.aborted) return;
        if (error instanceof ProblemError && error.status < 500 && error.status !== 429) return enter("refused");
      }
      if (gone.signal.aborted) return;
      enter("connecting");
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  };
  void follow();
  const inputs = sending((some, burst) => orderPage(place, { do: "input", inputs: [...some], burst }));
  addEventListener("pagehide", () => inputs.flush(), { signal: gone.signal });
  return {
    ...{ phase, state, frame },
    take: () => orderPage(place, { do: "take" }).catch(complain),
    handBack: () =>
      inputs
        .sent()
        .then(() => orderPage(place, { do: "hand-back" }))
        .then(() => answerAboutPage(place.runId, words().livePage.handedBackAnswer))
        .catch(complain),
    send: inputs.send,
    close() {
      inputs.flush();
      gone.abort();
    },
  };
}

type Post = (inputs: readonly PageInput[], burst: { id: string; number: number }) => Promise<void>;

/**
 * Sends inputs in order, several at once while an earlier request is under way. Each request says
 * which one is before it: the last ones may overtake it when the console is being left.
 */
function sending(post: Post) {
  let waiting: PageInput[] = [];
  let underWay: Promise<void> | undefined;
  let burst = { id: "", number: 0 };
  const sendNext = () => {
    const place = { ...burst };
    burst.number += 1;
    return post(waiting.splice(0, maxAtOnce), place);
  };
  const sendAll = async () => {
    burst = { id: newKey(), number: 0 };
    while (waiting.length > 0) await sendNext();
  };
  return {
    send(input: PageInput): void {
      waiting = joined(waiting, input);
      underWay ??= sendAll()
        .catch((error) => {
          waiting = [];
          complain(error);
        })
        .finally(() => {
          underWay = undefined;
        });
    },
    sent: async () => underWay,
    /** Sends what waits at once: the console is being left. */
    flush(): void {
      for (; waiting.length > 0; ) void sendNext().catch(() => undefined);
    },
  };
}

/** Inputs with one more; moves, scrolls and letters that wait together become one. */
function joined(waiting: PageInput[], input: PageInput): PageInput[] {
  const last = waiting.at(-1);
  const rest = waiting.slice(0, -1);
  if (last?.type === "text" && input.type === "text" && last.text.length < 200)
    return [...rest, { type: "text", text: last.text + input.text }];
  if (last?.type === "wheel" && input.type === "wheel")
    return [...rest, { ...input, dx: within(last.dx + input.dx), dy: within(last.dy + input.dy) }];
  if (last?.type === "pointer" && input.type === "pointer" && last.act === "move" && input.act === "move")
    return [...rest, input];
  return [...waiting, input];
}

function within(pixels: number): number {
  return Math.max(-5_000, Math.min(5_000, pixels));
}
