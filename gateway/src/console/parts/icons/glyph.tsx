import type { RunView } from "manyhands/internal/runs/run-view";
import { words } from "../../words/words.ts";

/** A state of a run. */
export type RunState = RunView["status"];

type Shape = "queued" | "running" | "ask" | "auth" | "waiting" | "paused" | "done" | "failed" | "canceled";

const ring = "M2.2 8a5.8 5.8 0 1 0 11.6 0a5.8 5.8 0 1 0 -11.6 0";

/** Each state has its own outline, so that colour only confirms it. */
const shapes: Readonly<Record<Shape, readonly string[]>> = {
  queued: [ring],
  running: [ring, "M8 2.2A5.8 5.8 0 0 1 13.8 8"],
  ask: ["M8 1.3 14.7 8 8 14.7 1.3 8z", "M6.6 6.7a1.45 1.45 0 1 1 2 1.3c-.4.2-.6.4-.6.9M8 10.7h.01"],
  auth: ["M2.5 8a2.8 2.8 0 1 0 5.6 0a2.8 2.8 0 1 0 -5.6 0", "M8.1 8h6M11.4 8v2.2M13.6 8v1.6"],
  waiting: [ring, "M5.4 8h.01M8 8h.01M10.6 8h.01"],
  paused: [ring, "M6.6 6v4M9.4 6v4"],
  done: [ring, "m5.6 8.2 1.7 1.7 3.1-3.7"],
  failed: ["M5.6 2.2h4.8l3.4 3.4v4.8l-3.4 3.4H5.6l-3.4-3.4V5.6z", "m6.2 6.2 3.6 3.6M9.8 6.2 6.2 9.8"],
  canceled: [ring, "m4.2 11.8 7.6-7.6"],
};

const shapeOf: Readonly<Record<RunState, Shape>> = {
  queued: "queued",
  running: "running",
  "input-required": "ask",
  "auth-required": "auth",
  waiting: "waiting",
  paused: "paused",
  completed: "done",
  failed: "failed",
  canceled: "canceled",
};

const toneOf: Readonly<Record<Shape, string>> = {
  queued: "s-none",
  running: "s-run",
  ask: "s-wait",
  auth: "s-wait",
  waiting: "s-run",
  paused: "s-wait",
  done: "s-none",
  failed: "s-fail",
  canceled: "s-none",
};

/** The outline of a state, with its word as label unless the word stands beside it. */
export function StateGlyph({ state, label }: { state: RunState; label?: string | false }) {
  const shape = shapeOf[state];
  return <Glyph shape={shape} label={label ?? words().states[state]} />;
}

/** One of the outlines, with a label unless `label` is false. */
export function Glyph({ shape, label, tone }: { shape: Shape; label: string | false; tone?: string }) {
  const spins = shape === "running" ? " spin" : "";
  const named = label === false ? { "aria-hidden": true } : ({ role: "img", "aria-label": label } as const);
  return (
    <svg class={`g ${tone ?? toneOf[shape]}${spins}`} viewBox="0 0 16 16" {...named}>
      {shapes[shape].map((d, index) => (
        <path
          key={d}
          d={d}
          {...(shape === "queued" && { "stroke-dasharray": "2.4 2.1" })}
          {...(shape === "running" && index === 0 && { opacity: 0.28 })}
        />
      ))}
    </svg>
  );
}

/** Outline and word of a state, for headers. */
export function StateChip({ state }: { state: RunState }) {
  return (
    <span class={`st box ${toneOf[shapeOf[state]]}`} role="status" data-state={state}>
      <StateGlyph state={state} label={false} />
      {words().states[state]}
    </span>
  );
}

/** Whether a run has ended. */
export function hasEnded(state: RunState): boolean {
  return state === "completed" || state === "failed" || state === "canceled";
}
