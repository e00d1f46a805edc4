import { post, remove } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { complain, toast } from "../../parts/toast.tsx";
import { safeText, timeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { type Firing, Firings } from "./firings.tsx";

/** A schedule, as the API tells it. */
export type Schedule = {
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly start: string;
  readonly task: string;
  readonly notify: readonly string[];
  readonly origin: "settings" | "added";
  readonly paused: boolean;
  readonly next?: string;
  readonly firings: readonly Firing[];
};

/** One schedule: when it is due, what became of the last times, and what can be done with it. */
export function ScheduleEntry({ schedule, changed }: { schedule: Schedule; changed: () => void }) {
  const text = words().starts;
  const { name, cron, timeZone, start, task, notify, origin, paused, next, firings } = schedule;
  const path = `/schedules/${encodeURIComponent(name)}`;
  const act = async (work: Promise<unknown>, said: string) => {
    try {
      await work;
      toast(said);
      changed();
    } catch (error) {
      complain(error);
    }
  };
  const when = paused ? text.paused : next === undefined ? "" : text.next(timeText(next));
  const facts = [`${cron} ${timeZone}`, start, ...(notify.length > 0 ? [text.tells(notify.join(", "))] : [])];
  return (
    <li class="srv" data-schedule={name}>
      <div class="row wrap">
        <h3 class="nm">{safeText(name)}</h3>
        <span class={paused ? "st s-wait small" : "t2 small"}>{when}</span>
        <span class="grow" />
        <Button
          look="ghost"
          aria-label={`${text.runNow}: ${name}`}
          onClick={() => void act(post(`${path}/run`, {}), text.startedNow(name))}
        >
          {text.runNow}
        </Button>
        <Button
          look="ghost"
          aria-label={`${paused ? text.resume : text.pause}: ${name}`}
          onClick={() =>
            void act(
              post(`${path}/${paused ? "resume" : "pause"}`, {}),
              paused ? text.resumedNow(name) : text.pausedNow(name),
            )
          }
        >
          {paused ? text.resume : text.pause}
        </Button>
        {origin === "added" && (
          <Button
            look="ghost"
            aria-label={`${words().remove}: ${name}`}
            onClick={() => void act(remove(path), words().removed(name))}
          >
            {words().remove}
          </Button>
        )}
      </div>
      <p class="words">{safeText(task)}</p>
      <p class="t3 small words">{safeText(facts.join(" · "))}</p>
      <Firings of={firings} />
    </li>
  );
}
