import { useState } from "preact/hooks";
import { useTitle } from "../../attention/tab.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { words } from "../../words/words.ts";
import { OperatorOnly } from "../settings/operator-only.tsx";
import { useLoaded } from "../settings/use-loaded.ts";
import { NewSchedule } from "./new-schedule.tsx";
import { type Schedule, ScheduleEntry } from "./schedule-entry.tsx";
import { type Target, TargetEntry } from "./target-entry.tsx";
import { type Trigger, TriggerEntry } from "./trigger-entry.tsx";

/** What starts by itself, and who is told of runs. */
export function StartsPage() {
  const text = words().starts;
  useTitle(text.title);
  const schedules = useLoaded<{ readonly schedules: readonly Schedule[] }>("/schedules");
  const triggers = useLoaded<{ readonly triggers: readonly Trigger[] }>("/triggers");
  const targets = useLoaded<{ readonly targets: readonly Target[] }>("/notify");
  const [adds, setAdds] = useState(false);
  const change = () => Promise.all([schedules.reload(), triggers.reload()]);
  const names = (targets.value?.targets ?? []).map(({ name }) => name);
  return (
    <>
      <header class="head">
        <h1>{text.title}</h1>
        <span class="grow" />
        <Button icon="plus" onClick={() => setAdds(true)}>
          {text.add}
        </Button>
      </header>
      <div class="scroll">
        <div class="reading wide">
          <h2>{text.schedules}</h2>
          <OperatorOnly of={schedules}>
            <List of={schedules.value?.schedules ?? []} none={text.noSchedules} more={text.noSchedulesMore}>
              {(one) => <ScheduleEntry key={one.name} schedule={one} changed={() => void change()} />}
            </List>
          </OperatorOnly>
          <h2>{text.triggers}</h2>
          <OperatorOnly of={triggers}>
            <List of={triggers.value?.triggers ?? []} none={text.noTriggers} more={text.noTriggersMore}>
              {(one) => <TriggerEntry key={one.name} trigger={one} changed={() => void change()} />}
            </List>
          </OperatorOnly>
          <h2>{text.targets}</h2>
          <OperatorOnly of={targets}>
            <List of={targets.value?.targets ?? []} none={text.noTargets} more={text.noTargetsMore}>
              {(one) => <TargetEntry key={one.name} target={one} />}
            </List>
          </OperatorOnly>
        </div>
      </div>
      {adds && <NewSchedule targets={names} added={() => void change()} close={() => setAdds(false)} />}
    </>
  );
}

function List<One>({
  of,
  none,
  more,
  children,
}: {
  of: readonly One[];
  none: string;
  more: string;
  children: (one: One) => preact.JSX.Element;
}) {
  return of.length === 0 ? <Empty title={none}>{more}</Empty> : <ul class="list">{of.map(children)}</ul>;
}
