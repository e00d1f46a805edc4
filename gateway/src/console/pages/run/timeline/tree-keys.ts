import { useKeys } from "../../../parts/keys.ts";
import { failureIn, type Row } from "../model/rows.ts";
import { isFoldable } from "./tree-row.tsx";

/** Which share of what is shown a press moves. */
const panShare = 0.25;

/** The rows and which of them is chosen, also before they are drawn: keys may come faster. */
type Current = () => { readonly rows: readonly Row[]; readonly at: number };
type Next = (fits: (row: Row) => boolean, step?: number) => void;

/** Goes to the next row that fits, around the end. */
export function nextOf(current: Current, move: (index: number) => void): Next {
  return (fits, step = 1) => {
    const { rows, at } = current();
    for (let n = 1; n <= rows.length; n++) {
      const index = (at + step * n + rows.length * 2) % rows.length;
      const row = rows[index];
      if (row !== undefined && fits(row)) return move(index);
    }
  };
}

/** The keys of the whole page. */
export function useRunKeys({
  current,
  move,
  next,
  follow,
}: {
  current: Current;
  move: (index: number) => void;
  next: Next;
  follow: () => void;
}) {
  const failed = (row: Row) => failureIn(row) !== undefined;
  useKeys({
    j: () => move(current().at + 1),
    k: () => move(current().at - 1),
    e: () => next(failed),
    E: () => next(failed, -1),
    w: () => next(({ item }) => item.waits.some(({ to }) => to === undefined)),
    f: follow,
    "/": () => document.querySelector<HTMLInputElement>(".find-run input")?.focus(),
  });
}

type TreeKeys = {
  readonly rows: readonly Row[];
  readonly at: number;
  readonly move: (index: number) => void;
  readonly fold: (row: Row, folds: boolean) => void;
  readonly isFolded: (row: Row) => boolean;
  readonly pan: (share: number) => void;
};

/** The keys of the tree while it has the focus. */
export function onTreeKey(event: KeyboardEvent, { rows, at, move, fold, isFolded, pan }: TreeKeys): void {
  const row = rows[at];
  const above = row?.parent;
  const acts: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(at + 1),
    ArrowUp: () => move(at - 1),
    Home: () => move(0),
    End: () => move(rows.length - 1),
    ArrowLeft: () => {
      if (event.shiftKey) pan(-panShare);
      else if (row !== undefined && isFoldable(row) && !isFolded(row)) fold(row, true);
      else if (above !== undefined) move(rows.findIndex(({ item }) => item === above));
    },
    ArrowRight: () => {
      if (event.shiftKey) pan(panShare);
      else if (row !== undefined && isFoldable(row)) fold(row, false);
    },
  };
  const act = acts[event.key];
  if (act === undefined) return;
  event.preventDefault();
  act();
}

/** The row may only be drawn with the next frame; keys that come before are the tree's already. */
export function focusRow(list: HTMLElement | null, key: string): void {
  const drawn = () => list?.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
  list?.focus({ preventScroll: true });
  if (drawn() === null) requestAnimationFrame(() => drawn()?.focus());
  else drawn()?.focus();
}
