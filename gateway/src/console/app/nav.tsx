import { request } from "../api/client.ts";
import { Glyph, StateGlyph } from "../parts/icons/glyph.tsx";
import { Icon, type IconName, Mark } from "../parts/icons/icon.tsx";
import { keyText } from "../parts/keys.ts";
import { complain } from "../parts/toast.tsx";
import { titleOf } from "../state/names.ts";
import { address, place } from "../state/router.ts";
import { agentsUp, connected, health, person, recent, rehearses, waiting } from "../state/store.ts";
import { toggleTheme } from "../state/theme.ts";
import { modelText } from "../words/format.ts";
import { words } from "../words/words.ts";

function Entry({ to, icon, children, count }: { to: string; icon: IconName; children: string; count?: number }) {
  const isHere = (place.value.parts[0] ?? "") === to;
  return (
    <a href={address([to])} {...(isHere && { "aria-current": "page" as const })} title={children}>
      <Icon name={icon} />
      <span class="cut">{children}</span>
      {count !== undefined && count > 0 && (
        <span class="count">
          <span aria-hidden="true">{count}</span>
          <span class="sr"> {words().waitingCount(count)}</span>
        </span>
      )}
    </a>
  );
}

/** The navigation at the side. */
export function Nav({ openPalette }: { openPalette: () => void }) {
  const text = words();
  const isStart = place.value.parts.length === 0;
  return (
    <nav class="nav" aria-label={text.mainNavigation}>
      <a class="brand" href="#/">
        <Mark />
        <span>Manyhands</span>
      </a>
      <a class="new" href="#/" {...(isStart && { "aria-current": "page" as const })} title={text.newTask}>
        <Icon name="plus" />
        <span>{text.newTask}</span>
        <kbd class="end" aria-hidden="true">
          N
        </kbd>
      </a>
      <button type="button" class="find" onClick={openPalette} title={text.search}>
        <Icon name="search" />
        <span>{text.search}</span>
        <kbd class="end" aria-hidden="true">
          {keyText("mod+K")}
        </kbd>
      </button>
      <Entry to="waiting" icon="tray" count={waiting.value.length}>
        {text.waitingForYou}
      </Entry>
      <Entry to="runs" icon="runs">
        {text.runs}
      </Entry>
      <h2>{text.build}</h2>
      <Entry to="build" icon="flow">
        {text.flows}
      </Entry>
      <Entry to="agents" icon="agent">
        {text.agents}
      </Entry>
      <Entry to="starts" icon="clock">
        {text.starts.title}
      </Entry>
      <Recent />
      <div class="foot">
        <Entry to="api" icon="api">
          {text.api}
        </Entry>
        <Entry to="settings" icon="settings">
          {text.settings}
        </Entry>
        <Person />
        <Foot />
      </div>
    </nav>
  );
}

function Recent() {
  const text = words();
  const runs = recent.value ?? [];
  return (
    <section class="recent" aria-label={text.recent}>
      <h2>{text.recent}</h2>
      {runs.length === 0 && <p class="small t3 none">{text.noRecent}</p>}
      <ul>
        {runs.map((run) => {
          const to = address(["c", run.contextId]);
          const isHere = place.value.parts[0] === "c" && place.value.parts[1] === run.contextId;
          return (
            <li key={run.id}>
              <a href={to} title={titleOf(run, 200)} {...(isHere && { "aria-current": "page" as const })}>
                <StateGlyph state={run.status} />
                <span class="cut">{titleOf(run)}</span>
              </a>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Who is signed in, and the way out. */
function Person() {
  if (person.value === undefined) return null;
  return (
    <div class="model">
      <span class="cut">{person.value}</span>
      <button type="button" class="end" onClick={() => void leave().catch(complain)}>
        {words().signOut}
      </button>
    </div>
  );
}

function Foot() {
  const text = words();
  const about = health.value;
  const model = about?.model.name ?? "";
  return (
    <div class="model">
      <Glyph shape={connected.value ? "done" : "failed"} tone={connected.value ? "s-ok" : "s-wait"} label={false} />
      <span class="grow" title={about && `${modelText(about.model)} · ${about.version}`}>
        {connected.value ? (
          <>
            <span class="cut">{rehearses.value ? text.rehearsal : model}</span>
            <span class="cut">{text.agentsUp(agentsUp.value.length)}</span>
          </>
        ) : (
          text.connectionLost
        )}
      </span>
      <button class="end" type="button" aria-label={text.switchTheme} title={text.switchTheme} onClick={toggleTheme}>
        <Icon name="moon" />
      </button>
    </div>
  );
}

async function leave(): Promise<void> {
  await request("/auth/sign-out", { method: "POST" });
  location.reload();
}

/** The navigation of a phone, below the page. */
export function BottomNav() {
  const text = words();
  const here = place.value.parts[0] ?? "";
  const entries: readonly [string, IconName, string][] = [
    ["", "plus", text.new],
    ["waiting", "tray", text.waiting],
    ["runs", "runs", text.runs],
    ["settings", "settings", text.settings],
  ];
  return (
    <nav class="bottom" aria-label={`${text.mainNavigation} 2`}>
      {entries.map(([to, icon, name]) => (
        <a key={to} href={to === "" ? "#/" : address([to])} {...(here === to && { "aria-current": "page" as const })}>
          <Icon name={icon} />
          {to === "waiting" && waiting.value.length > 0 && <span class="dot" />}
          {name}
        </a>
      ))}
    </nav>
  );
}
