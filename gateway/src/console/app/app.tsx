import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { AgentsPage } from "../pages/agents/agents-page.tsx";
import { ConversationPage } from "../pages/conversation/conversation-page.tsx";
import { StartPage } from "../pages/start/start-page.tsx";
import { WaitingPage } from "../pages/waiting/waiting-page.tsx";
import { Announcer } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { useKeys } from "../parts/keys.ts";
import { NotFound } from "../parts/not-found.tsx";
import { Toasts } from "../parts/toast.tsx";
import { address, go, place } from "../state/router.ts";
import { words } from "../words/words.ts";
import { KeyList } from "./key-list.tsx";
import { lazyPage } from "./lazy-page.tsx";
import { BottomNav, Nav } from "./nav.tsx";
import { Palette } from "./palette.tsx";
import { TokenDialog } from "./token-dialog.tsx";

const RunPage = lazyPage(async () => (await import("../pages/run/run-page.tsx")).RunPage);
const ComparePage = lazyPage(async () => (await import("../pages/compare/compare-page.tsx")).ComparePage);
const ApiPage = lazyPage(async () => (await import("../pages/api/api-page.tsx")).ApiPage);
const BuildPage = lazyPage(async () => (await import("../pages/build/build-page.tsx")).BuildPage);
const SettingsPage = lazyPage(async () => (await import("../pages/settings/settings-page.tsx")).SettingsPage);
const StartsPage = lazyPage(async () => (await import("../pages/starts/starts-page.tsx")).StartsPage);
const RunsPage = lazyPage(async () => (await import("../pages/runs/runs-page.tsx")).RunsPage);

/** After G, the next key says where to go, for so long. */
const chordMs = 1_500;

/** The console: navigation, and the page that the address asks for. */
export function App() {
  const main = useRef<HTMLElement>(null);
  const [over, setOver] = useState<"palette" | "keys" | undefined>(undefined);
  const wentG = useRef(Number.NEGATIVE_INFINITY);
  const path = place.value.parts.join("/");
  useEffect(() => {
    if (document.activeElement !== document.body) main.current?.focus();
  }, [path]);
  const afterG = (to: string) => () => {
    if (performance.now() - wentG.current < chordMs) go(address([to]));
  };
  useKeys({
    n: () => go("#/"),
    g: () => {
      wentG.current = performance.now();
    },
    w: afterG("waiting"),
    r: afterG("runs"),
    a: afterG("agents"),
    s: afterG("settings"),
    "?": () => setOver("keys"),
    "mod+k": () => setOver("palette"),
  });
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        {words().skip}
      </button>
      <div class="app">
        <Nav openPalette={() => setOver("palette")} />
        <main class="main" ref={main} tabIndex={-1}>
          <Page key={path} />
        </main>
      </div>
      <BottomNav />
      <Toasts />
      <Announcer />
      <TokenDialog />
      {over === "palette" && <Palette close={() => setOver(undefined)} />}
      {over === "keys" && <KeyList close={() => setOver(undefined)} />}
    </>
  );
}

/** The page of the current place. */
function Page() {
  const [error, retry] = useErrorBoundary();
  if (error !== undefined) return <Broken error={error} retry={retry} />;
  const [first, id, ...rest] = place.value.parts;
  if (first === undefined) return <StartPage />;
  if (first === "waiting") return <WaitingPage />;
  if (first === "c" && id !== undefined) return <ConversationPage contextId={id} />;
  if (first === "runs") return id === undefined ? <RunsPage /> : <RunPage id={id} rest={rest} />;
  if (first === "compare") return <ComparePage />;
  if (first === "agents") return <AgentsPage />;
  if (first === "starts") return <StartsPage />;
  if (first === "build") return <BuildPage />;
  if (first === "api") return <ApiPage />;
  if (first === "settings") return <SettingsPage section={id ?? ""} />;
  return <NotFound />;
}

function Broken({ error, retry }: { error: unknown; retry: () => void }) {
  return (
    <div class="alone" role="alert">
      <Empty title={words().failedHere} action={<Button onClick={retry}>{words().back}</Button>}>
        {error instanceof Error ? error.message : String(error)}
      </Empty>
    </div>
  );
}
