import type { RunView } from "manyhands/internal/runs/run-view";
import { useEffect, useState } from "preact/hooks";
import { getRuns } from "../../../api/catalog.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { StateGlyph } from "../../../parts/icons/glyph.tsx";
import { complain } from "../../../parts/toast.tsx";
import { titleOf, titleOfName } from "../../../state/names.ts";
import { address } from "../../../state/router.ts";
import { timeText } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";

/** Runs that are offered. */
const offered = 30;

/** Chooses the run to hold this one against: those of the same task first. */
export function ComparePicker({ run, onClose }: { readonly run: RunView; readonly onClose: () => void }) {
  const text = words();
  const [runs, setRuns] = useState<readonly RunView[] | undefined>(undefined);
  const [more, setMore] = useState(false);
  useEffect(() => {
    getRuns({ limit: offered, count: 0 }).then((page) => {
      setRuns(page.runs.filter(({ id }) => id !== run.id).toSorted((a, b) => likeness(b, run) - likeness(a, run)));
      setMore(page.nextCursor !== undefined);
    }, complain);
  }, [run.id]);
  return (
    <Dialog title={text.find.compareWith} onClose={onClose}>
      <ul class="list picks">
        {runs?.map((one) => (
          <li key={one.id}>
            <a class="li" href={address(["compare"], { a: run.id, b: one.id })} onClick={onClose}>
              <StateGlyph state={one.status} />
              <span class="grow cut">{titleOf(one, 80)}</span>
              <span class="t3 small">{titleOfName(one.name)}</span>
              <span class="t3 small">{timeText(one.createdAt)}</span>
            </a>
          </li>
        ))}
      </ul>
      {more && (
        <p class="note">
          {text.find.compareMore} <a href={address(["runs"])}>{text.runs}</a>
        </p>
      )}
      {runs?.length === 0 && <p class="t3">{text.find.compareNone}</p>}
    </Dialog>
  );
}

/** The same task counts more than the same flow. */
function likeness(one: RunView, other: RunView): number {
  return (one.input === other.input ? 2 : 0) + (one.name === other.name ? 1 : 0);
}
