import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { words } from "../../../words/words.ts";
import { chosenPart } from "../model/zoom.ts";
import type { Zoom } from "./use-zoom.tsx";

const ticks = 5;

/** A duration on the axis and at the rows' end: 0:18, 4:38, 18 ms, 9.6 s. */
export function briefTime(milliseconds: number): string {
  if (milliseconds < 100) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000)
    return words().seconds(Number((milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)));
  return clockOf(milliseconds);
}

const inMilliseconds = (milliseconds: number) => `${Math.round(milliseconds)} ms`;

function clockOf(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** The times above the bars. Dragging across them shows that part; buttons and keys do the same. */
export function Axis({ zoom }: { readonly zoom: Zoom }) {
  const text = words();
  const { from, to } = zoom.shown;
  const length = to - from;
  const begun = from - zoom.whole.from;
  const named = length < 1_000 ? inMilliseconds : length < 20_000 ? briefTime : clockOf;
  return (
    <div class="ax" aria-hidden="true">
      <span>{text.run.treeHead}</span>
      <Ticks zoom={zoom}>
        {Array.from({ length: ticks }, (_, at) => (
          <span key={at} style={{ left: `${(100 * at) / ticks}%` }}>
            {begun + at === 0 ? "0" : named(begun + (length * at) / ticks)}
          </span>
        ))}
      </Ticks>
      <span class="dur">{text.run.time}</span>
    </div>
  );
}

function Ticks({ zoom, children }: { readonly zoom: Zoom; readonly children: ComponentChildren }) {
  const box = useRef<HTMLSpanElement>(null);
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number } | undefined>(undefined);
  const shareAt = (event: PointerEvent) => {
    const { left = 0, width = 1 } = box.current?.getBoundingClientRect() ?? {};
    return (event.clientX - left) / width;
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: buttons and keys do the same; this is a shortcut for the pointer.
    <span
      class="ticks"
      ref={box}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag({ from: shareAt(event), to: shareAt(event) });
      }}
      onPointerMove={(event) => setDrag(drag && { from: drag.from, to: shareAt(event) })}
      onPointerUp={() => {
        const part = drag && chosenPart(zoom.shown, drag.from, drag.to);
        if (part !== undefined) zoom.show(part);
        setDrag(undefined);
      }}
      onPointerCancel={() => setDrag(undefined)}
      onDblClick={() => zoom.show(undefined)}
    >
      {children}
      {drag && (
        <i
          class="drag"
          style={{ left: `${100 * Math.min(drag.from, drag.to)}%`, width: `${100 * Math.abs(drag.to - drag.from)}%` }}
        />
      )}
    </span>
  );
}
