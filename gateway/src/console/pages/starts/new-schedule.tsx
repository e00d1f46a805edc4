import { useState } from "preact/hooks";
import { post } from "../../api/client.ts";
import { FormDialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { toast } from "../../parts/toast.tsx";
import { agents, flows } from "../../state/store.ts";
import { words } from "../../words/words.ts";

type Props = { readonly targets: readonly string[]; readonly added: () => void; readonly close: () => void };

/** The form of a new schedule, in the browser's time zone unless it is told another. */
export function NewSchedule({ targets, added, close }: Props) {
  const text = words().starts;
  const startable = [...agents.value, ...flows.value].map(({ name }) => name);
  const [name, setName] = useState("");
  const [task, setTask] = useState("");
  const [cron, setCron] = useState("0 8 * * *");
  const [timeZone, setTimeZone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [start, setStart] = useState(startable[0] ?? "");
  const [makesUp, setMakesUp] = useState(true);
  const [notify, setNotify] = useState<readonly string[]>([]);
  const add = async () => {
    const missed = makesUp ? "once" : "skip";
    await post("/schedules", { name: name.trim(), task, cron, timeZone, start, missed, notify });
    toast(text.added(name.trim()));
    added();
    close();
  };
  return (
    <FormDialog
      title={text.add}
      label={text.add}
      disabled={name.trim() === "" || task.trim() === "" || start === ""}
      act={add}
      onClose={close}
    >
      <TextField id="schedule-name" label={text.name} value={name} note={text.nameNote} required onValue={setName} />
      <TextField id="schedule-task" label={text.task} value={task} note={text.taskNote} rows={3} onValue={setTask} />
      <div class="text-field">
        <label class="label" for="schedule-start">
          {text.start}
        </label>
        <div class="field">
          <select id="schedule-start" value={start} onChange={({ currentTarget }) => setStart(currentTarget.value)}>
            {startable.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </div>
      </div>
      <TextField id="schedule-cron" label={text.cron} value={cron} note={text.cronNote} required onValue={setCron} />
      <TextField id="schedule-zone" label={text.timeZone} value={timeZone} required onValue={setTimeZone} />
      <fieldset class="choices">
        <legend class="label">{text.more}</legend>
        <label class="check">
          <input
            type="checkbox"
            checked={makesUp}
            onChange={({ currentTarget }) => setMakesUp(currentTarget.checked)}
          />
          {text.makeUp}
        </label>
        {targets.map((target) => (
          <label class="check" key={target}>
            <input
              type="checkbox"
              checked={notify.includes(target)}
              onChange={({ currentTarget: { checked } }) =>
                setNotify(targets.filter((one) => (one === target ? checked : notify.includes(one))))
              }
            />
            {text.tells(target)}
          </label>
        ))}
      </fieldset>
    </FormDialog>
  );
}
