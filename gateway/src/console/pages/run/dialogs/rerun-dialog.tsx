import type { RunView } from "manyhands/internal/runs/run-view";
import { useState } from "preact/hooks";
import { runPath } from "../../../api/catalog.ts";
import { post } from "../../../api/client.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { complain, toast } from "../../../parts/toast.tsx";
import { address, go } from "../../../state/router.ts";
import { words } from "../../../words/words.ts";

/** Starts a run again with another task, and the files, agents, options and limits of the first. */
export function RerunDialog({ run, onClose }: { readonly run: RunView; readonly onClose: () => void }) {
  const text = words();
  const [task, setTask] = useState(run.input);
  const [busy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    try {
      const again = await post<RunView>(`${runPath(run.id)}/rerun`, { text: task });
      toast(text.run.rerunDone);
      onClose();
      go(address(["runs", again.id]));
    } catch (error) {
      // The text stays, to be sent again.
      complain(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={text.find.rerunChanged} onClose={onClose}>
      <label class="label" for="rerun-task">
        {text.task}
      </label>
      <span class="field area">
        <textarea
          dir="auto"
          id="rerun-task"
          rows={8}
          value={task}
          onInput={({ currentTarget: { value } }) => setTask(value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) void start();
          }}
        />
      </span>
      <p class="note">{text.find.rerunKeeps}</p>
      <div class="acts">
        <span class="grow" />
        <Button onClick={onClose}>{text.cancel}</Button>
        <Button look="primary" disabled={busy || task.trim() === ""} onClick={() => void start()}>
          {text.start}
        </Button>
      </div>
    </Dialog>
  );
}
