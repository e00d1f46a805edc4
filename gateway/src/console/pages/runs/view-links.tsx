import { useState } from "preact/hooks";
import { Button, IconButton } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { toast } from "../../parts/toast.tsx";
import { address } from "../../state/router.ts";
import { words } from "../../words/words.ts";
import { type Filters, filterNames } from "./runs-query.ts";
import { removeView, type SavedView, savedViews, saveView } from "./saved-views.ts";

/**
 * Lists that are often wanted: all, what waits, what failed, what was dear, and the person's own.
 */
export function ViewLinks({ filters }: { readonly filters: Filters }) {
  const text = words();
  const [naming, setNaming] = useState(false);
  const ready: readonly SavedView[] = [
    { name: text.run.all, filters: {} },
    { name: text.waitingForYou, filters: { status: "input-required,auth-required,paused" } },
    { name: text.run.failedRuns, filters: { status: "failed" } },
    { name: text.run.overDollar, filters: { minUsd: "1" } },
  ];
  const saved = savedViews.value;
  const isShown = (view: SavedView) => filterNames.every((name) => filters[name] === view.filters[name]);
  return (
    <nav class="views" aria-label={text.runs}>
      {ready.map((view) => (
        <ViewLink key={view.name} view={view} shown={isShown(view)} />
      ))}
      {saved.map((view) => (
        <span key={view.name} class="view">
          <ViewLink view={view} shown={isShown(view)} />
          {isShown(view) && <Forget view={view} />}
        </span>
      ))}
      {![...ready, ...saved].some(isShown) && (
        <Button look="ghost" icon="star" onClick={() => setNaming(true)}>
          {text.find.saveView}
        </Button>
      )}
      {naming && <NameView filters={filters} onClose={() => setNaming(false)} />}
    </nav>
  );
}

function ViewLink({ view: { name, filters }, shown }: { readonly view: SavedView; readonly shown: boolean }) {
  return (
    <a href={address(["runs"], filters)} {...(shown && { "aria-current": "page" as const })}>
      {name}
    </a>
  );
}

function Forget({ view }: { readonly view: SavedView }) {
  const text = words().find;
  const forget = () => {
    removeView(view.name);
    toast(text.viewRemoved(view.name), () => saveView(view));
  };
  return <IconButton icon="close" label={text.removeView(view.name)} onClick={forget} />;
}

function NameView({ filters, onClose }: { readonly filters: Filters; readonly onClose: () => void }) {
  const text = words();
  const [name, setName] = useState("");
  const save = (event: Event) => {
    event.preventDefault();
    if (name.trim() === "") return;
    saveView({ name: name.trim(), filters });
    onClose();
  };
  return (
    <Dialog title={text.find.saveView} onClose={onClose}>
      <form onSubmit={save}>
        <label class="label" for="view-name">
          {text.find.viewName}
        </label>
        <span class="field">
          <input
            id="view-name"
            maxLength={40}
            autocomplete="off"
            value={name}
            onInput={({ currentTarget: { value } }) => setName(value)}
          />
        </span>
        <p class="note">{text.find.viewsKept}</p>
        <div class="acts">
          <span class="grow" />
          <Button onClick={onClose}>{text.cancel}</Button>
          <Button look="primary" type="submit" disabled={name.trim() === ""}>
            {text.find.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
