import type { RunView } from "manyhands/internal/runs/run-view";
import { useState } from "preact/hooks";
import { runPath } from "../../../api/catalog.ts";
import { remove } from "../../../api/client.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { complain } from "../../../parts/toast.tsx";
import { safeText, shortLine } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";

const named = 5;

/** Asks once, by name, before runs are deleted for good. */
export function DeleteRuns({
  runs,
  onClose,
  onDeleted,
}: {
  readonly runs: readonly RunView[];
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}) {
  const text = words();
  const [busy, setBusy] = useState(false);
  const act = async () => {
    setBusy(true);
    try {
      for (const { id } of runs) await remove(runPath(id));
      onDeleted();
    } catch (error) {
      complain(error);
    }
    onClose();
  };
  return (
    <Dialog title={text.run.removeAsk(runs.length)} onClose={onClose}>
      <ul class="t2">
        {runs.slice(0, named).map(({ id, input }) => (
          <li key={id} class="cut">
            {shortLine(safeText(input), 80)}
          </li>
        ))}
        {runs.length > named && <li>…</li>}
      </ul>
      <p class="note">{text.run.removeMore}</p>
      <div class="acts">
        <span class="grow" />
        <Button onClick={onClose}>{text.cancel}</Button>
        <Button look="fail" disabled={busy} onClick={act}>
          {text.run.remove}
        </Button>
      </div>
    </Dialog>
  );
}
