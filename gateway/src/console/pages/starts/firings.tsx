import { address } from "../../state/router.ts";
import { safeText, timeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";

/** What became of a time of a schedule, or of a webhook. */
export type Firing = {
  readonly due: string;
  readonly at: string;
  readonly outcome: "started" | "made-up" | "by-hand" | "missed" | "skipped" | "refused";
  readonly missed?: number;
  readonly runId?: string;
  readonly reason?: string;
  readonly event?: string;
};

/** The last times, the newest first. */
export function Firings({ of }: { of: readonly Firing[] }) {
  const text = words().starts;
  if (of.length === 0) return <p class="t3 small">{text.noFirings}</p>;
  return (
    <details>
      <summary class="t3 small">
        {text.last(text.outcomes[of[0]?.outcome ?? "started"], timeText(of[0]?.due ?? ""))}
      </summary>
      <ul class="small">
        {of.map(({ due, at, outcome, missed, runId, reason, event }) => (
          <li key={`${due} ${at} ${runId}`} class="words">
            {timeText(due)}: {text.outcomes[outcome]}
            {missed !== undefined && ` · ${text.missedTimes(missed)}`}
            {event !== undefined && ` · ${safeText(event)}`}
            {reason !== undefined && ` · ${safeText(reason)}`}
            {runId !== undefined && (
              <>
                {" · "}
                <a href={address(["runs", runId])}>{text.run}</a>
              </>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
