import type { RunView } from "manyhands/internal/runs/run-view";
import { useState } from "preact/hooks";
import { runPath } from "../../api/catalog.ts";
import { post } from "../../api/client.ts";
import { stopRun } from "../../api/stop-run.ts";
import { Button } from "../../parts/button.tsx";
import { hasEnded, StateChip } from "../../parts/icons/glyph.tsx";
import { Icon } from "../../parts/icons/icon.tsx";
import { Menu, type MenuItem } from "../../parts/menu.tsx";
import { complain, toast } from "../../parts/toast.tsx";
import { address, go, setQuery } from "../../state/router.ts";
import { countText, safeText, shortLine, timeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { exportRun } from "./dialogs/act-on-runs.ts";
import { ComparePicker } from "./dialogs/compare-picker.tsx";
import { DeleteRuns } from "./dialogs/delete-runs.tsx";
import { RerunDialog } from "./dialogs/rerun-dialog.tsx";
import { ShareDialog } from "./dialogs/share-dialog.tsx";
import type { RunPageStore } from "./run-store.ts";

/** The tabs of a run, besides its conversation. */
export const tabs = ["timeline", "files", "live", "events"] as const;

/** A tab of a run. */
export type RunTab = (typeof tabs)[number];

/** The task, its state, and what can be done with it. */
export function RunHead({ store }: { store: RunPageStore }) {
  const text = words();
  const run = store.run.value;
  const [opened, setOpened] = useState<"delete" | "rerun" | "share" | "compare" | undefined>(undefined);
  const close = () => setOpened(undefined);
  return (
    <header class="head">
      <a class="btn ghost icon" href={address(["runs"])} aria-label={text.runs}>
        <Icon name="left" />
      </a>
      <h1 class="cut" title={safeText(run?.input ?? "")}>
        {shortLine(safeText(run?.input ?? ""), 120) || text.untitled}
      </h1>
      {run && <StateChip state={run.status} />}
      <span class="grow only-d" />
      {run && <span class="t3 only-d">{timeText(run.createdAt)}</span>}
      {run && <HeadActs run={run} store={store} />}
      {run && (
        <Menu
          label={text.more}
          look="btn ghost icon"
          side="end"
          button={<Icon name="dots" />}
          items={moreActs(run, setOpened)}
        />
      )}
      {run && opened === "rerun" && <RerunDialog run={run} onClose={close} />}
      {run && opened === "share" && <ShareDialog run={run} onClose={close} />}
      {run && opened === "compare" && <ComparePicker run={run} onClose={close} />}
      {run && opened === "delete" && (
        <DeleteRuns
          runs={[run]}
          onClose={close}
          onDeleted={() => {
            toast(text.run.removed(1));
            go(address(["runs"]));
          }}
        />
      )}
    </header>
  );
}

function HeadActs({ run, store }: { run: RunView; store: RunPageStore }) {
  const text = words().run;
  const resume = () => post(`${runPath(run.id)}/resume`, {}).then(store.refresh, complain);
  const stop = () =>
    stopRun(run.id).then((isStopped) => {
      if (!isStopped) toast(words().endedBefore);
      return store.refresh();
    }, complain);
  return (
    <>
      {run.status === "input-required" && (
        <a class="btn primary" href={address(["c", run.contextId])}>
          {run.approval === undefined ? words().answer : words().review}
        </a>
      )}
      {run.status === "paused" && (
        <Button look="primary" onClick={() => void resume()}>
          {text.resume}
        </Button>
      )}
      {!hasEnded(run.status) && (
        <Button icon="stop" onClick={() => void stop()}>
          {text.stop}
        </Button>
      )}
      {hasEnded(run.status) && (
        <a class="btn" href={address(["c", run.contextId])}>
          {words().find.goOn}
        </a>
      )}
      {hasEnded(run.status) && (
        <span class="only-d">
          <Button icon="again" onClick={() => rerun(run)}>
            {text.rerun}
          </Button>
        </span>
      )}
    </>
  );
}

async function rerun({ id }: RunView): Promise<void> {
  try {
    const again = await post<RunView>(`${runPath(id)}/rerun`, {});
    toast(words().run.rerunDone);
    go(address(["runs", again.id]));
  } catch (error) {
    complain(error);
  }
}

function moreActs(run: RunView, open: (what: "delete" | "rerun" | "share" | "compare") => void): MenuItem[] {
  const text = words().run;
  const more = words().find;
  return [
    { label: text.rerun, choose: () => void rerun(run) },
    { label: more.rerunChanged, choose: () => open("rerun") },
    { label: more.compare, choose: () => open("compare") },
    { label: more.share, choose: () => open("share") },
    { label: text.export, choose: () => void exportRun(run.id).catch(complain) },
    {
      label: text.copyLink,
      choose: () => void navigator.clipboard.writeText(location.href).then(() => toast(text.copied), complain),
    },
    ...(hasEnded(run.status) ? [{ label: text.remove, look: "fail" as const, choose: () => open("delete") }] : []),
  ];
}

/** The tabs, each with its count; the conversation is a page of its own. */
export function RunTabs({
  store,
  tab,
  shown = tabs,
}: {
  readonly store: RunPageStore;
  readonly tab: RunTab;
  /** Those of the tabs that are there; a run that is shown by a link has fewer. */
  readonly shown?: readonly RunTab[];
}) {
  const text = words().run;
  const run = store.run.value;
  void store.version.value;
  const counts: Partial<Record<RunTab, number>> = { events: store.tree.events.length, files: run?.files.length ?? 0 };
  const choose = (chosen: RunTab) => setQuery({ tab: chosen === "timeline" ? undefined : chosen }, true);
  const button = (one: RunTab) => (
    <button key={one} type="button" role="tab" aria-selected={one === tab} onClick={() => choose(one)}>
      {text[one]}
      {(counts[one] ?? 0) > 0 && <span class="n">{countText(counts[one] ?? 0)}</span>}
    </button>
  );
  return (
    <div class="tabs">
      <div role="tablist" class="row">
        {shown.map(button)}
      </div>
      {run && shown === tabs && <a href={address(["c", run.contextId])}>{text.conversation}</a>}
      <span class="grow" />
      {tab === "timeline" && (
        <span class="key only-d" aria-hidden="true">
          <span>
            <i class="b m" />
            {text.model}
          </span>
          <span>
            <i class="b" />
            {text.tool}
          </span>
          <span>
            <i class="b w" />
            {words().waitingForYou}
          </span>
        </span>
      )}
    </div>
  );
}
