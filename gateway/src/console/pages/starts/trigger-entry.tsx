import { post } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { complain, toast } from "../../parts/toast.tsx";
import { safeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { type Firing, Firings } from "./firings.tsx";

/** A trigger, as the API tells it. */
export type Trigger = {
  readonly name: string;
  readonly type: string;
  readonly url: string;
  readonly start: string;
  readonly task: string;
  readonly events: readonly string[];
  readonly paused: boolean;
  readonly firings: readonly Firing[];
};

/** One trigger: where its sender posts to, and what its last webhooks started. */
export function TriggerEntry({ trigger, changed }: { trigger: Trigger; changed: () => void }) {
  const text = words().starts;
  const { name, type, url, start, task, events, paused, firings } = trigger;
  const turn = async () => {
    try {
      await post(`/triggers/${encodeURIComponent(name)}/${paused ? "resume" : "pause"}`, {});
      toast(paused ? text.resumedNow(name) : text.pausedNow(name));
      changed();
    } catch (error) {
      complain(error);
    }
  };
  return (
    <li class="srv" data-trigger={name}>
      <div class="row wrap">
        <h3 class="nm">{safeText(name)}</h3>
        {paused && <span class="st s-wait small">{text.paused}</span>}
        <span class="grow" />
        <Button look="ghost" aria-label={`${paused ? text.resume : text.pause}: ${name}`} onClick={() => void turn()}>
          {paused ? text.resume : text.pause}
        </Button>
      </div>
      <p class="words">{safeText(task)}</p>
      <p class="t3 small words">{safeText([type, start, ...events].join(" · "))}</p>
      <p class="small words">
        <code>{safeText(url)}</code>
      </p>
      <Firings of={firings} />
    </li>
  );
}
