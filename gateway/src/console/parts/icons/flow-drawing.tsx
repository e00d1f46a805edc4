import { flowDrawings } from "./flow-drawings.ts";

/** How a flow works, as a small drawing; nothing for a flow that has none. */
export function FlowDrawing({ flow }: { flow: string }) {
  const lines = flowDrawings[flow] ?? flowDrawings.sequential ?? [];
  return (
    <svg class="fl" viewBox="0 0 72 30" fill="none" stroke="currentColor" stroke-width="1.4" aria-hidden="true">
      {lines.map(({ d, faint, filled, dashed }) => (
        <path
          key={d}
          d={d}
          {...(faint && { opacity: 0.5 })}
          {...(filled && { fill: "currentColor" })}
          {...(dashed && { "stroke-dasharray": "2.5 2.5" })}
        />
      ))}
    </svg>
  );
}
