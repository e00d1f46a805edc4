import { titleOfName } from "../../state/names.ts";
import { safeText, shortLine } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import type { CompositionDraft } from "./composition.ts";

const width = 320;
const boxHeight = 34;
const gap = 18;

type Box = { readonly key: string; readonly label: string; readonly y: number; readonly isEnd?: boolean };

/** The flow as a drawing: what gets the task, in which order, and where the answer comes from. */
export function FlowGraph({ draft }: { draft: CompositionDraft }) {
  const text = words().system;
  const { pattern, members } = draft;
  const isChain = pattern === "sequential" || pattern === "loop";
  const step = boxHeight + gap;
  const shown = pattern === "loop" ? members.slice(0, 1) : members;
  const inner = shown.map(({ id, agent, name, position }, index) => ({
    key: String(id),
    label: [titleOfName(agent), name || position].filter(Boolean).join(": "),
    y: (index + 1) * step + 8,
  }));
  const check =
    pattern === "loop" ? [{ key: "check", label: `${text.criteria} …`, y: (inner.length + 1) * step + 8 }] : [];
  const boxes: Box[] = [
    { key: "task", label: text.task, y: 8, isEnd: true },
    ...inner,
    ...check,
    { key: "answer", label: text.result, y: (inner.length + check.length + 1) * step + 8, isEnd: true },
  ];
  const height = (boxes.at(-1)?.y ?? 0) + boxHeight + 8;
  const described = `${text.drawing}: ${boxes.map(({ label }) => label).join(", ")}`;
  return (
    <svg class="graph" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={safeText(described)}>
      {isChain ? (
        <Chain boxes={boxes} isLoop={pattern === "loop"} />
      ) : (
        <Fan boxes={boxes} isChoice={pattern === "conditional"} />
      )}
      {boxes.map(({ key, label, y, isEnd }) => (
        <g key={key} {...(isEnd && { class: "end" })}>
          <rect x={60} y={y} width={200} height={boxHeight} rx={6} />
          <text x={width / 2} y={y + 21} text-anchor="middle">
            {shortLine(safeText(label), 28)}
          </text>
        </g>
      ))}
    </svg>
  );
}

function Chain({ boxes, isLoop }: { boxes: readonly Box[]; isLoop: boolean }) {
  const [, worker, check] = boxes;
  return (
    <>
      {boxes.slice(1).map(({ key, y }) => (
        <path key={key} d={`M${width / 2} ${y - gap}V${y - 1}m-4 -5l4 5l4 -5`} />
      ))}
      {isLoop && worker !== undefined && check !== undefined && (
        <path d={`M260 ${check.y + 17}H290V${worker.y + 17}H262m5 -4l-5 4l5 4`} />
      )}
    </>
  );
}

/**
 * Everyone gets the task from the left side and gives to the right one; of a choice only one does.
 */
function Fan({ boxes, isChoice }: { boxes: readonly Box[]; isChoice: boolean }) {
  const first = boxes[0]?.y ?? 0;
  const end = boxes.at(-1)?.y ?? 0;
  const dashed = isChoice ? { "stroke-dasharray": "4 3" } : {};
  return (
    <>
      {boxes.slice(1, -1).map(({ key, y }) => (
        <path
          key={key}
          d={`M60 ${first + 17}H34V${y + 17}H58m-5 -4l5 4l-5 4M260 ${y + 17}H286V${end + 17}H262`}
          {...dashed}
        />
      ))}
    </>
  );
}
