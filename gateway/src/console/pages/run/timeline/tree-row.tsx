import { AgentGlyph } from "../../../parts/icons/agent-glyph.tsx";
import { Glyph, type RunState, StateGlyph } from "../../../parts/icons/glyph.tsx";
import { Icon } from "../../../parts/icons/icon.tsx";
import { isFlow } from "../../../state/names.ts";
import { safeText, shortLine } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";
import {
  asksOthers,
  endOf,
  failureOf,
  isStopped,
  startOf,
  type TreeItem,
  waitingFor,
  waitsForPerson,
} from "../model/items.ts";
import { failureIn, hintOf, type Row, titleIn } from "../model/rows.ts";
import type { Extent } from "../model/zoom.ts";
import { toolIcon } from "../tool-icon.ts";
import { briefTime } from "./time-axis.tsx";

/** Model calls drawn in one row at most. */
const maxBars = 150;

type Props = {
  readonly row: Row;
  readonly top: number;
  readonly place: number;
  readonly count: number;
  readonly extent: Extent;
  /** Whether how it ended is still to come. */
  readonly reading: boolean;
  readonly chosen: boolean;
  readonly folded: boolean;
  readonly dimmed: boolean;
  readonly onFold: (row: Row, folds: boolean) => void;
  readonly onSelect: (item: TreeItem) => void;
};

/** A row of the tree with its bars. */
export function TreeRow({ row, top, place, extent, reading, chosen, folded, dimmed, ...rest }: Props) {
  const { item, depth } = row;
  const foldable = isFoldable(row);
  const took = tookOf(row);
  return (
    <div
      role="treeitem"
      class={dimmed ? "r dimmed" : "r"}
      data-key={item.key}
      tabIndex={chosen ? 0 : -1}
      aria-level={depth + 1}
      aria-posinset={place}
      aria-setsize={rest.count}
      aria-selected={chosen}
      {...(foldable && { "aria-expanded": !folded })}
      style={{ top: `${top}px` }}
      onClick={() => rest.onSelect(item)}
      onKeyDown={(event) => {
        if (event.key === "Enter") rest.onSelect(item);
      }}
    >
      <span class="n" style={{ "--d": depth }}>
        <Twist foldable={foldable} folded={folded} onFold={() => rest.onFold(row, !folded)} />
        <Name row={row} />
      </span>
      <span class="lane" aria-hidden="true">
        {(folded ? (row.repeats ?? [item]) : [item]).map((one) => (
          <Bars key={one.key} item={one} extent={extent} />
        ))}
      </span>
      <span class="dur">{took === undefined ? reading || <StateGlyph state={stateOf(item)} /> : briefTime(took)}</span>
    </div>
  );
}

/** What an item does that goes on. */
function stateOf(item: TreeItem): RunState {
  if (waitsForPerson(item)) return "input-required";
  return waitingFor(item) === undefined ? "running" : "waiting";
}

/** Whether something is below the row that can be hidden. */
export function isFoldable({ item, repeats }: Row): boolean {
  return repeats !== undefined || (item.kind === "run" && item.children.length > 0);
}

/** How long it took, all repeats that the row stands for together; undefined while it goes on. */
function tookOf({ item, repeats, opened }: Row): number | undefined {
  const stands = opened === true ? [item] : (repeats ?? [item]);
  const times = stands.map((one) => (endOf(one) ?? Number.NaN) - startOf(one));
  const sum = times.reduce((all, time) => all + time, 0);
  return Number.isNaN(sum) ? undefined : sum;
}

function Twist({ foldable, folded, onFold }: { foldable: boolean; folded: boolean; onFold: () => void }) {
  if (!foldable) return <span class="tw" />;
  return (
    <span
      class="tw"
      aria-hidden="true"
      onClick={(event) => {
        event.stopPropagation();
        onFold();
      }}
    >
      <Icon name={folded ? "right" : "down"} small />
    </span>
  );
}

/** Takes the row, which is new when its item has changed. */
function Name({ row }: { row: Row }) {
  const { item, repeats } = row;
  const text = words().run;
  const mark =
    failureIn(row) !== undefined ? (
      <span class="st s-fail small end">
        <Glyph shape="failed" label={false} />
        {text.failed}
      </span>
    ) : (
      isStopped(item) && (
        <span class="st s-none small end">
          <StateGlyph state="canceled" label={false} />
          {words().states.canceled}
        </span>
      )
    );
  if (item.kind === "call") {
    const hint = hintOf(item);
    return (
      <>
        <Icon name={toolIcon(item.name)} small />
        <span class="cut mono">{safeText(item.name)}</span>
        {repeats && (
          <span class="times num">
            <span aria-hidden="true">×{repeats.length}</span>
            <span class="sr">{words().find.repeatedLabel(repeats.length)}</span>
          </span>
        )}
        {mark || (hint !== "" && <span class="t3 small cut end">{shortLine(safeText(hint), 60)}</span>)}
      </>
    );
  }
  const title = titleIn(row);
  return (
    <>
      <AgentGlyph name={safeText(item.name)} flow={isFlow(item.name, asksOthers(item))} />
      <span class="cut med">{safeText(title)}</span>
      {title !== item.name && <span class="sr">{safeText(item.name)}</span>}
      {item.elsewhere && <span class="t3 small">{text.elsewhere}</span>}
      {mark}
    </>
  );
}

function Bars({ item, extent }: { item: TreeItem; extent: Extent }) {
  const length = extent.to - extent.from;
  const bar = (kind: string, from: number, to: number | undefined, key: string | number) => {
    const [first, last] = [Math.max(from, extent.from), Math.min(to ?? extent.to, extent.to)];
    // What lies outside of the part that is shown has no bar.
    if (first > last) return null;
    const style = { "--x": (100 * (first - extent.from)) / length, "--w": (100 * (last - first)) / length };
    return <i key={key} class={`b ${kind}`} style={style} />;
  };
  const tone = item.kind === "run" ? "a" : failureOf(item) === undefined ? "" : "e";
  return (
    <>
      {bar(tone, startOf(item), endOf(item), "whole")}
      {item.kind === "run" &&
        item.replies.slice(-maxBars).map(({ at, event, seq }) => {
          const end = Date.parse(at);
          const took = "milliseconds" in event ? event.milliseconds : 0;
          return bar("m", end - took, end, seq);
        })}
      {item.waits.map(({ from, to }) => bar("w", from, to, `w${from}`))}
    </>
  );
}
