import { useEffect, useMemo, useState } from "preact/hooks";
import { get, readByLink } from "../../api/client.ts";
import { useTitle } from "../../attention/tab.ts";
import { Banner } from "../../parts/banner.tsx";
import { Empty } from "../../parts/empty.tsx";
import { FileLinks } from "../../parts/file-links.tsx";
import { StateChip } from "../../parts/icons/glyph.tsx";
import { Mark } from "../../parts/icons/icon.tsx";
import { useKeys } from "../../parts/keys.ts";
import { Toasts } from "../../parts/toast.tsx";
import { place, setQuery } from "../../state/router.ts";
import { safeText, shortLine, timeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { PlanStrip } from "../run/plan-strip.tsx";
import { type RunTab, RunTabs } from "../run/run-head.tsx";
import { RunOutcome } from "../run/run-outcome.tsx";
import { openRunStore, type RunPageStore } from "../run/run-store.ts";
import { EventsTab } from "../run/tabs/events-tab.tsx";
import { Timeline } from "../run/timeline/timeline.tsx";

type About = { readonly runId: string; readonly expiresAt: string };

const shown: readonly RunTab[] = ["timeline", "files", "events"];

/** One run as a link shows it: to be read, without the rest of the console. */
export function SharedPage({ secret }: { readonly secret: string }) {
  const [about, setAbout] = useState<About | undefined>(undefined);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    readByLink(secret);
    get<About>("").then(setAbout, () => setFailed(true));
  }, [secret]);
  return (
    <>
      <div class="app alone-app">
        <main class="main">
          {failed && <Over />}
          {about !== undefined && !failed && <SharedRun about={about} />}
        </main>
      </div>
      <Toasts />
    </>
  );
}

function Over() {
  const text = words();
  return (
    <div class="scroll">
      <div class="alone">
        <h1 class="sr">{text.find.sharedOver}</h1>
        <Empty title={text.find.sharedOver}>{text.find.sharedOverMore}</Empty>
      </div>
    </div>
  );
}

function SharedRun({ about }: { readonly about: About }) {
  const store = useMemo(() => openRunStore(about.runId), [about.runId]);
  useEffect(() => () => store.close(), [store]);
  const run = store.run.value;
  useTitle(run?.input ?? "");
  useKeys({ Escape: () => setQuery({ event: undefined, run: undefined }) });
  const text = words();
  const asked = place.value.query.get("tab");
  const tab = shown.find((one) => one === asked) ?? "timeline";
  if (store.problem.value !== undefined) return <Over />;
  return (
    <>
      <header class="head">
        <span class="brand-mark" title="Manyhands">
          <Mark />
        </span>
        <h1 class="cut" title={safeText(run?.input ?? "")}>
          {shortLine(safeText(run?.input ?? ""), 120) || text.untitled}
        </h1>
        {run && <StateChip state={run.status} />}
        <span class="grow" />
        <span class="t3 small only-d">{text.find.sharedUntil(timeText(about.expiresAt))}</span>
      </header>
      <RunTabs store={store} tab={tab} shown={shown} />
      {!store.connected.value && <Banner tone="wait">{text.run.lost}</Banner>}
      <SharedBody store={store} tab={tab} />
    </>
  );
}

function SharedBody({ store, tab }: { readonly store: RunPageStore; readonly tab: RunTab }) {
  if (tab === "events") return <EventsTab store={store} />;
  if (tab === "files") {
    const files = store.run.value?.files ?? [];
    return (
      <div class="scroll">
        <div class="reading">
          {files.length === 0 ? <Empty title={words().run.noFiles} /> : <FileLinks files={files} />}
        </div>
      </div>
    );
  }
  return (
    <>
      <PlanStrip store={store} />
      <RunOutcome store={store} />
      <Timeline store={store} />
    </>
  );
}
