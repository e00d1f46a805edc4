import type { RunView } from "manyhands/internal/runs/run-view";
import { useRef, useState } from "preact/hooks";
import { runPath } from "../../api/catalog.ts";
import { post, remove } from "../../api/client.ts";
import { stopRun } from "../../api/stop-run.ts";
import { useTitle } from "../../attention/tab.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { hasEnded, StateChip } from "../../parts/icons/glyph.tsx";
import { Icon } from "../../parts/icons/icon.tsx";
import { Menu } from "../../parts/menu.tsx";
import { NotFound } from "../../parts/not-found.tsx";
import { complain, toast } from "../../parts/toast.tsx";
import { titleOf } from "../../state/names.ts";
import { address, go } from "../../state/router.ts";
import { refreshRuns } from "../../state/store.ts";
import { words } from "../../words/words.ts";
import type { PlanItem } from "../run/model/plan.ts";
import { Dock } from "./dock.tsx";
import { RunThread } from "./run-thread.tsx";
import { SidePanel } from "./side-panel.tsx";
import { useConversation } from "./use-conversation.ts";
import { useTail } from "./use-tail.ts";

/** A conversation: all runs of a context as one thread that goes on. */
export function ConversationPage({ contextId }: { contextId: string }) {
  const text = words();
  const { runs, refresh } = useConversation(contextId);
  const [plans, setPlans] = useState<Readonly<Record<string, readonly PlanItem[]>>>({});
  const scroller = useRef<HTMLDivElement>(null);
  const tail = useTail(scroller);
  useTitle(runs?.[0]?.input ?? "");
  if (runs === undefined)
    return (
      <p class="sr" role="status">
        {text.loading}
      </p>
    );
  const newest = runs.at(-1);
  if (newest === undefined) return <NotFound />;
  const onChange = (run: RunView, plan: readonly PlanItem[]) => {
    refresh();
    if (plan.length > 0) setPlans((known) => (known[run.id] === plan ? known : { ...known, [run.id]: plan }));
    tail.grew();
  };
  const plan = runs.map(({ id }) => plans[id] ?? []).findLast((items) => items.length > 0) ?? [];
  return (
    <>
      <Head runs={runs} newest={newest} refresh={refresh} />
      <div class="split">
        <section class="thread" aria-label={text.conversation}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys. */}
          <div class="scroll" ref={scroller} onScroll={tail.scrolled} tabIndex={0}>
            <div class="inner">
              {runs.map((run) => (
                <RunThread key={run.id} run={run} onChange={onChange} refresh={refresh} />
              ))}
            </div>
          </div>
          {tail.isBehind && (
            <button type="button" class="pill" onClick={tail.follow}>
              {text.newest}
              <Icon name="down" small />
            </button>
          )}
          <Dock contextId={contextId} newest={newest} sent={refresh} />
        </section>
        <SidePanel runs={runs} plan={plan} />
      </div>
    </>
  );
}

type HeadProps = { readonly runs: readonly RunView[]; readonly newest: RunView; readonly refresh: () => void };

function Head({ runs, newest, refresh }: HeadProps) {
  const text = words();
  const [busy, setBusy] = useState(false);
  const isActive = !hasEnded(newest.status);
  const act = async (verb: "cancel" | "resume") => {
    setBusy(true);
    try {
      if (verb === "resume") await post(`${runPath(newest.id)}/resume`, {});
      else if (!(await stopRun(newest.id))) toast(text.endedBefore);
      refresh();
      void refreshRuns();
    } catch (error) {
      complain(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <header class="head">
      <span class="only-p">
        <IconButton icon="left" label={text.back} onClick={() => history.back()} />
      </span>
      <h1 class="cut" title={titleOf(runs[0] ?? newest, 400)}>
        {titleOf(runs[0] ?? newest)}
      </h1>
      <StateChip state={newest.status} />
      <span class="grow only-d" />
      <a class="btn only-d" href={address(["runs", newest.id])}>
        {text.openRun}
      </a>
      {newest.status === "paused" && (
        <Button look="primary" disabled={busy} onClick={() => void act("resume")}>
          {text.resume}
        </Button>
      )}
      {isActive && (
        <Button icon="stop" disabled={busy} onClick={() => void act("cancel")}>
          {busy ? text.stopping : text.stop}
        </Button>
      )}
      <More newest={newest} isActive={isActive} />
    </header>
  );
}

function More({ newest, isActive }: { newest: RunView; isActive: boolean }) {
  const text = words();
  const [asks, setAsks] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(location.href).then(
      () => toast(text.copied),
      () => complain(new Error(text.copyFailed)),
    );
  const forget = async () => {
    setAsks(false);
    try {
      await remove(`/conversations/${encodeURIComponent(newest.contextId)}`);
      void refreshRuns();
      go("#/");
      toast(text.deleted);
    } catch (error) {
      complain(error);
    }
  };
  return (
    <>
      <Menu
        label={text.more}
        look="btn ghost icon"
        side="end"
        button={<Icon name="dots" />}
        items={[
          { label: text.openRun, choose: () => go(address(["runs", newest.id])) },
          { label: text.copyLink, choose: () => void copy() },
          ...(isActive ? [] : [{ label: text.deleteConversation, look: "fail" as const, choose: () => setAsks(true) }]),
        ]}
      />
      {asks && (
        <Dialog title={text.deleteConversation} onClose={() => setAsks(false)}>
          <p>{text.deleteConversationAsk}</p>
          <div class="acts">
            <Button look="fail" onClick={() => void forget()}>
              {text.deleteConversation}
            </Button>
            <Button onClick={() => setAsks(false)}>{text.cancel}</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
