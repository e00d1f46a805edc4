import type { TreeEvent } from "../../api/tree-events.ts";
import { IconButton } from "../../parts/button.tsx";
import { Icon, type IconName } from "../../parts/icons/icon.tsx";
import { complain, toast } from "../../parts/toast.tsx";
import { safeText, shortLine } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import type { RunPageStore } from "./run-store.ts";
import { linkOf, selectEvent } from "./selection.ts";

/** The head of the inspector: what it shows, a link to it, and the way back on small screens. */
export function InspectorTop({
  store,
  event,
  title,
  mono = false,
  icon,
  note,
}: {
  readonly store: RunPageStore;
  readonly event: TreeEvent | undefined;
  readonly title: string;
  readonly mono?: boolean;
  readonly icon: IconName;
  readonly note: string;
}) {
  const text = words();
  const copy = () =>
    event && navigator.clipboard.writeText(linkOf(store.tree, event)).then(() => toast(text.run.copied), complain);
  return (
    <div class="top">
      <div class="row">
        <Icon name={icon} />
        <h2 class={mono ? "cut mono" : "cut"} tabIndex={-1}>
          {safeText(shortLine(title, 120))}
        </h2>
        <span class="grow" />
        {event && <IconButton icon="link" label={text.run.copyLink} onClick={copy} />}
        <span class="only-p">
          <IconButton icon="close" label={text.close} onClick={() => selectEvent(store.tree, undefined)} />
        </span>
      </div>
      <p class="t3 small">{safeText(note)}</p>
    </div>
  );
}
