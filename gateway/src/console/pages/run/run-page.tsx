import { useEffect, useMemo } from "preact/hooks";
import { ProblemError } from "../../api/client.ts";
import { useTitle } from "../../attention/tab.ts";
import { Banner } from "../../parts/banner.tsx";
import { Empty } from "../../parts/empty.tsx";
import { useKeys } from "../../parts/keys.ts";
import { address, go, place, setQuery } from "../../state/router.ts";
import { words } from "../../words/words.ts";
import { PlanStrip } from "./plan-strip.tsx";
import { RunHead, type RunTab, RunTabs, tabs } from "./run-head.tsx";
import { RunOutcome } from "./run-outcome.tsx";
import { openRunStore, type RunPageStore } from "./run-store.ts";
import { EventsTab } from "./tabs/events-tab.tsx";
import { FilesTab } from "./tabs/files-tab.tsx";
import { LiveTab } from "./tabs/live-tab.tsx";
import { Timeline } from "./timeline/timeline.tsx";

/** One run: its tree, its calls and its files. `rest` is what follows the id in the address. */
export function RunPage({ id, rest }: { id: string; rest: readonly string[] }) {
  const store = useMemo(() => openRunStore(id), [id]);
  useEffect(() => () => store.close(), [store]);
  useTitle(store.run.value?.input ?? "");
  const { query } = place.value;
  const asked = rest[0] ?? query.get("tab");
  const tab: RunTab = tabs.find((one) => one === asked) ?? "timeline";
  useKeys({
    Escape: () => {
      const now = place.value.query;
      if (now.has("event") || now.has("run")) setQuery({ event: undefined, run: undefined });
      else go(address(["runs"]));
    },
  });
  if (store.problem.value !== undefined) return <Problem problem={store.problem.value} />;
  return (
    <>
      <RunHead store={store} />
      <RunTabs store={store} tab={tab} />
      {!store.connected.value && <Banner tone="wait">{words().run.lost}</Banner>}
      <Body store={store} tab={tab} />
    </>
  );
}

function Body({ store, tab }: { store: RunPageStore; tab: RunTab }) {
  if (tab === "files") return <FilesTab store={store} />;
  if (tab === "live") return <LiveTab store={store} />;
  if (tab === "events") return <EventsTab store={store} />;
  return (
    <>
      <PlanStrip store={store} />
      <RunOutcome store={store} />
      <Timeline store={store} />
    </>
  );
}

function Problem({ problem }: { problem: unknown }) {
  const text = words();
  const missing = problem instanceof ProblemError && problem.status === 404;
  return (
    <div class="scroll">
      <div class="alone">
        <h1 class="sr">{text.run.unknownRun}</h1>
        <Empty
          title={missing ? text.run.unknownRun : text.failedHere}
          action={
            <a class="btn" href={address(["runs"])}>
              {text.runs}
            </a>
          }
        >
          {missing ? text.run.unknownRunMore : String(problem)}
        </Empty>
      </div>
    </div>
  );
}
