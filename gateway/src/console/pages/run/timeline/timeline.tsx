import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../../../parts/button.tsx";
import { hasEnded } from "../../../parts/icons/glyph.tsx";
import { words } from "../../../words/words.ts";
import { Inspector } from "../inspector.tsx";
import type { TreeItem } from "../model/items.ts";
import { extentOf, matches, type Row, rowsOf } from "../model/rows.ts";
import type { RunPageStore } from "../run-store.ts";
import { select, selected } from "../selection.ts";
import { useWindow } from "../use-window.ts";
import { Axis, linesOf } from "./time-axis.tsx";
import { focusRow, nextOf, onTreeKey, useRunKeys } from "./tree-keys.ts";
import { TreeRow } from "./tree-row.tsx";
import { useFollowing } from "./use-following.ts";
import { useZoom, type Zoom, ZoomBar } from "./use-zoom.tsx";

/** Pixels from the end within which the view counts as being at the end. */
const nearEnd = 60;

/** The tree and the waterfall on one grid of rows, and the inspector. */
export function Timeline({ store }: { store: RunPageStore }) {
  return (
    <div class="run">
      <Tree store={store} />
      <Inspector store={store} />
    </div>
  );
}

function Tree({ store }: { store: RunPageStore }) {
  const folded = useSignal<ReadonlySet<string>>(new Set());
  const opened = useSignal<ReadonlySet<string>>(new Set());
  const find = useSignal("");
  const { tree } = store;
  const chosen = selected(tree).item;
  const listed = useComputed(() => {
    void store.version.value;
    const { item } = selected(tree);
    return rowsOf(tree.root, { folded: folded.value, opened: opened.value, chosen: item?.key });
  });
  const current = () => {
    const [rows, { item }] = [listed.value, selected(tree)];
    return { rows, at: item === undefined ? -1 : rows.findIndex((row) => row.item.key === item.key) };
  };
  const { rows, at } = current();
  const list = useRef<HTMLDivElement>(null);
  const { from, to, rowHeight, scrollTo } = useWindow(list, rows.length);
  const running = store.run.value !== undefined && !hasEnded(store.run.value.status);
  const follow = useFollowing(rows.length, running, scrollTo);
  useEffect(() => {
    if (at >= 0) scrollTo(at);
  }, [chosen?.key]);
  const fold = (row: Row, folds: boolean) => {
    // Runs are open until they are folded; repeated calls are folded until they are opened.
    const [held, adds] = row.repeats === undefined ? [folded, folds] : [opened, !folds];
    const next = new Set(held.value);
    if (adds) next.add(row.item.key);
    else next.delete(row.item.key);
    held.value = next;
  };
  const choose = (item: TreeItem) => {
    follow.stop();
    select(tree, item);
  };
  const move = (index: number) => {
    const { rows } = current();
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (row === undefined) return;
    choose(row.item);
    scrollTo(rows.indexOf(row));
    focusRow(list.current, row.item.key);
  };
  const next = nextOf(current, move);
  const zoom = useZoom(extentOf(tree.root, store.now()), chosen);
  useRunKeys({ current, move, next, follow: follow.toggle });
  const fits = (row: Row) => find.value !== "" && matches(row, find.value);
  const isFolded = ({ item, repeats, opened: isOpen }: Row) =>
    repeats === undefined ? folded.value.has(item.key) : isOpen !== true;
  return (
    <div class="run-left">
      <ZoomBar zoom={zoom} />
      <FindBox find={find} count={() => rows.filter(fits).length} next={(step) => next(fits, step)} />
      <div
        class="scroll wf"
        ref={list}
        role="tree"
        aria-label={words().run.tree}
        tabIndex={at < 0 ? 0 : -1}
        onKeyDown={(event) => onTreeKey(event, { ...current(), move, fold, isFolded, pan: zoom.pan })}
        onWheel={follow.stop}
        onScroll={({ currentTarget: box }) => {
          if (box.scrollHeight - box.scrollTop - box.clientHeight < nearEnd) follow.atEnd();
        }}
      >
        <Rows
          {...{ rows, from, to, rowHeight, at, isFolded, zoom, reading: store.isReading() }}
          isDimmed={(row) => find.value !== "" && !fits(row)}
          onFold={fold}
          onSelect={choose}
        />
      </div>
      {follow.missed > 0 && (
        <div class="newer">
          <Button onClick={follow.toggle}>{words().run.newer(follow.missed)}</Button>
        </div>
      )}
    </div>
  );
}

function Rows({
  rows,
  from,
  to,
  rowHeight,
  at,
  zoom,
  reading,
  isFolded,
  isDimmed,
  ...acts
}: {
  readonly rows: readonly Row[];
  readonly from: number;
  readonly to: number;
  readonly rowHeight: number;
  readonly at: number;
  readonly zoom: Zoom;
  readonly reading: boolean;
  readonly isFolded: (row: Row) => boolean;
  readonly isDimmed: (row: Row) => boolean;
  readonly onFold: (row: Row, folds: boolean) => void;
  readonly onSelect: (item: TreeItem) => void;
}) {
  return (
    <>
      <Axis zoom={zoom} />
      {/* biome-ignore lint/a11y/useSemanticElements: rows of a tree have no element of their own. */}
      <div class="rows" role="group" style={{ height: `${rows.length * rowHeight}px`, ...linesOf(zoom) }}>
        {rows.slice(from, to).map((row, index) => (
          <TreeRow
            key={row.item.key}
            row={row}
            top={(from + index) * rowHeight}
            place={from + index + 1}
            count={rows.length}
            extent={zoom.shown}
            reading={reading}
            chosen={from + index === at}
            folded={isFolded(row)}
            dimmed={isDimmed(row)}
            {...acts}
          />
        ))}
      </div>
    </>
  );
}

/** Finds in the whole run, since only the rows in sight are in the document. */
function FindBox({
  find,
  count,
  next,
}: {
  readonly find: Signal<string>;
  readonly count: () => number;
  readonly next: (step: number) => void;
}) {
  const text = words().run;
  return (
    <div class="find-run row">
      <input
        type="search"
        aria-label={text.find}
        placeholder={text.find}
        value={find.value}
        onInput={(event) => {
          find.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") next(event.shiftKey ? -1 : 1);
        }}
      />
      {find.value !== "" && (
        <span class="t3 small" role="status">
          {text.found(count())}
        </span>
      )}
    </div>
  );
}
