import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { words } from "../../../words/words.ts";
import { chosenPart, ticksOf } from "../model/zoom.ts";
import type { Zoom } from "./use-zoom.tsx";

/** The share of the axis at whose end a time has no room any more. */
const roomFor = 0.93;

/** A duration on the axis and at the rows' end: 0:18, 4:38, 18 ms, 9.6 s. */
export function briefTime(milliseconds: number): string {
  if (milliseconds < 100) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000)
    return words().seconds(Number((milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)));
  return clockOf(milliseconds);
}

function clockOf(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** A time on an axis whose times lie this far apart. */
function tickText(milliseconds: number, step: number, last: number): string {
  if (milliseconds === 0) return "0";
  if (last < 1_000) return `${milliseconds} ms`;
  // Where they lie closer than a second, each has as many digits as tell them apart.
  const digits = Math.max(0, 3 - Math.floor(Math.log10(step)));
  if (step < 1_000 || last < 60_000) return words().seconds(Number((milliseconds / 1000).toFixed(digits)));
  return clockOf(milliseconds);
}

function axisOf({ shown, whole }: Pick<Zoom, "shown" | "whole">) {
  const [from, to] = [shown.from - whole.from, shown.to - whole.from];
  return { from, to, ticks: ticksOf(from, to) };
}

/** The lines behind the bars, at the times of the axis. */
export function linesOf(zoom: Pick<Zoom, "shown" | "whole">): { readonly [name: `--${string}`]: string } {
  const { from, to, ticks } = axisOf(zoom);
  const share = ticks.step / (to - from);
  const first = ((ticks.at[0] ?? from) - from) / (to - from);
  // Where a background begins is a share of what it leaves free.
  return { "--step": `${100 * share}%`, "--first": `${(100 * first) / (1 - share)}%` };
}

/** The times above the bars. Dragging across them shows that part; buttons and keys do the same. */
export function Axis({ zoom }: { readonly zoom: Zoom }) {
  const text = words();
  const { from, to, ticks } = axisOf(zoom);
  return (
    <div class="ax" aria-hidden="true">
      <span>{text.run.treeHead}</span>
      <Ticks zoom={zoom}>
        {ticks.at
          .filter((at) => (at - from) / (to - from) < roomFor)
          .map((at) => (
            <span key={at} style={{ left: `${(100 * (at - from)) / (to - from)}%` }}>
              {tickText(at, ticks.step, to)}
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
