import type { RunView } from "manyhands/internal/runs/run-view";
import { FileLinks } from "../../parts/file-links.tsx";
import { Glyph, hasEnded } from "../../parts/icons/glyph.tsx";
import { OfLimit } from "../../parts/of-limit.tsx";
import { titleOfName } from "../../state/names.ts";
import { costText, countText, durationText, moneyText, safeText, timeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import type { PlanItem } from "../run/model/plan.ts";

const planGlyphs = { not_started: "queued", in_progress: "running", completed: "done", blocked: "failed" } as const;

/** What a conversation has come to: its plan, what it spent, its files. */
export function SidePanel({ runs, plan }: { runs: readonly RunView[]; plan: readonly PlanItem[] }) {
  const text = words();
  const files = [...new Map(runs.flatMap((run) => run.files).map((file) => [file.name, file])).values()];
  return (
    <aside class="side" aria-label={text.thisTask}>
      {plan.length > 0 && <Plan plan={plan} />}
      <Spent runs={runs} />
      {files.length > 0 && (
        <section>
          <h2>{text.files}</h2>
          <FileLinks files={files} previews={false} />
        </section>
      )}
    </aside>
  );
}

function Plan({ plan }: { plan: readonly PlanItem[] }) {
  const text = words();
  const done = plan.filter(({ status }) => status === "completed").length;
  return (
    <section aria-label={text.plan}>
      <h2>
        {text.plan} <span class="t3 small">{text.planDone(done, plan.length)}</span>
      </h2>
      <ol class="plan">
        {plan.map((item) => (
          <li key={item.id}>
            <Glyph shape={planGlyphs[item.status] ?? "queued"} label={text.planStates[item.status] ?? item.status} />
            <div>
              <div class="med words">{safeText(item.text)}</div>
              <div class="small t3 words">
                {[
                  titleOfName(item.agent),
                  item.dependsOn.length > 0 && item.status === "not_started"
                    ? text.after(item.dependsOn.join(", "))
                    : "",
                  item.notes,
                ]
                  .filter((part) => part !== "")
                  .map(safeText)
                  .join(" · ")}
              </div>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Spent({ runs }: { runs: readonly RunView[] }) {
  const text = words();
  const usage = runs.reduce(
    (sum, { usage: one }) => ({
      tokens: sum.tokens + one.tokens,
      outputTokens: sum.outputTokens + (one.outputTokens ?? 0),
      usd: sum.usd + one.usd,
      unpriced: sum.unpriced || one.unpriced,
    }),
    { tokens: 0, outputTokens: 0, usd: 0, unpriced: false },
  );
  const first = runs[0];
  const newest = runs.at(-1);
  if (first === undefined || newest === undefined) return null;
  return (
    <section aria-label={text.spent}>
      <h2>
        {text.spent} <span class="num">{costText(usage)}</span>
      </h2>
      <dl class="kv small">
        <dt>{text.tokens}</dt>
        <dd>{countText(usage.tokens)}</dd>
        {usage.outputTokens > 0 && (
          <>
            <dt>{text.written}</dt>
            <dd>{countText(usage.outputTokens)}</dd>
          </>
        )}
        {newest.budget?.usd !== undefined && (
          <>
            <dt>{text.limit}</dt>
            <dd>
              {moneyText(newest.usage.usd)} <OfLimit usd={newest.usage.usd} limit={newest.budget.usd} />
            </dd>
          </>
        )}
        <dt>{text.started}</dt>
        <dd>{timeText(first.createdAt)}</dd>
        {hasEnded(newest.status) && (
          <>
            <dt>{text.took}</dt>
            <dd>{durationText(Date.parse(newest.updatedAt) - Date.parse(newest.createdAt))}</dd>
          </>
        )}
      </dl>
    </section>
  );
}
