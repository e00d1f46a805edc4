import type { RunView } from "manyhands/internal/runs/run-view";
import { useRef } from "preact/hooks";
import { Banner } from "../../parts/banner.tsx";
import { Glyph } from "../../parts/icons/glyph.tsx";
import { safeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import type { PlanItem } from "../run/model/plan.ts";
import { ThreadView } from "./thread-view.tsx";
import { useRunEvents } from "./use-run-events.ts";

/** One run of a conversation, kept up to date while it works. */
export function RunThread({
  run,
  onChange,
  refresh,
}: {
  readonly run: RunView;
  readonly onChange: (run: RunView, plan: readonly PlanItem[]) => void;
  readonly refresh: () => void;
}) {
  const { current: read } = useRef(run.lastEvent);
  const followed = useRunEvents(run.id, run.name, () => onChange(run, followed.thread.plan), read);
  return (
    <section class="run-thread" data-run={run.id}>
      <ThreadView run={run} items={followed.thread.items} version={followed.version.value} live={followed.live.value} />
      {run.data !== undefined && (
        <details class="answered">
          <summary>{words().asData}</summary>
          <pre class="code">{safeText(JSON.stringify(run.data, undefined, 2))}</pre>
        </details>
      )}
      {run.status === "paused" && (
        <Banner tone="wait" glyph={<Glyph shape="paused" label={false} />}>
          {safeText(run.error?.message ?? words().paused)}
        </Banner>
      )}
      {!followed.connected.value && (
        <Banner
          tone="wait"
          action={
            <button type="button" class="btn" onClick={refresh}>
              {words().tryAgain}
            </button>
          }
        >
          {words().connectionRetry}
        </Banner>
      )}
    </section>
  );
}
