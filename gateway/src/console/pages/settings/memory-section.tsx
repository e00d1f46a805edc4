import { useState } from "preact/hooks";
import { post, remove } from "../../api/client.ts";
import { Banner } from "../../parts/banner.tsx";
import { Button } from "../../parts/button.tsx";
import { ConfirmDialog, FormDialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { toast } from "../../parts/toast.tsx";
import { safeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { OperatorOnly } from "./operator-only.tsx";
import { useLoaded } from "./use-loaded.ts";

const kinds = ["fact", "preference", "how-to"] as const;

type Entry = {
  readonly id: string;
  readonly kind: (typeof kinds)[number];
  readonly text: string;
  readonly by: "agent" | "person";
  readonly sources: readonly string[];
  readonly public: boolean;
};

/** What is remembered for whoever looks: write, change, remove. */
export function MemorySection() {
  const text = words().memory;
  const loaded = useLoaded<{ readonly on: boolean; readonly entries: readonly Entry[] }>("/memory");
  const [edited, setEdited] = useState<Entry | "new" | undefined>(undefined);
  const [leaving, setLeaving] = useState<Entry | "all" | undefined>(undefined);
  const reload = () => void loaded.reload();
  const { on = true, entries = [] } = loaded.value ?? {};
  return (
    <>
      <div class="row">
        <h2 class="grow">{text.title}</h2>
        <Button icon="plus" disabled={!on} onClick={() => setEdited("new")}>
          {text.add}
        </Button>
      </div>
      <p>{text.note}</p>
      <OperatorOnly of={loaded}>
        {!on && <Banner tone="wait">{text.off}</Banner>}
        {entries.length === 0 && <Empty title={text.none}>{text.noneMore}</Empty>}
        {entries.length > 0 && (
          <>
            <ul class="list">
              {entries.map((entry) => (
                <EntryItem key={entry.id} entry={entry} edit={() => setEdited(entry)} leave={() => setLeaving(entry)} />
              ))}
            </ul>
            <Button look="ghost" onClick={() => setLeaving("all")}>
              {text.clear}
            </Button>
          </>
        )}
      </OperatorOnly>
      {edited !== undefined && <EntryForm of={edited} saved={reload} close={() => setEdited(undefined)} />}
      {leaving !== undefined && <Removal of={leaving} removed={reload} close={() => setLeaving(undefined)} />}
    </>
  );
}

function EntryItem({ entry, edit, leave }: { entry: Entry; edit: () => void; leave: () => void }) {
  const text = words().memory;
  const { by, sources } = entry;
  const facts = [
    text.kinds[entry.kind],
    by === "agent" ? text.byAgent : text.byPerson,
    sources.length > 0 ? text.after(sources.join(", ")) : "",
    entry.public ? text.isPublic : "",
  ];
  return (
    <li class="srv">
      <p class="words">{safeText(entry.text)}</p>
      <div class="row wrap">
        <span class="t3 small grow">{safeText(facts.filter((one) => one !== "").join(" · "))}</span>
        <Button look="ghost" aria-label={`${text.edit}: ${entry.id}`} onClick={edit}>
          {text.edit}
        </Button>
        <Button look="ghost" aria-label={`${text.remove}: ${entry.id}`} onClick={leave}>
          {text.remove}
        </Button>
      </div>
    </li>
  );
}

function EntryForm({ of, saved, close }: { of: Entry | "new"; saved: () => void; close: () => void }) {
  const text = words().memory;
  const before = of === "new" ? undefined : of;
  const [written, setWritten] = useState(before?.text ?? "");
  const [kind, setKind] = useState<Entry["kind"]>(before?.kind ?? "fact");
  const [isPublic, setPublic] = useState(before?.public ?? false);
  const save = async () => {
    const path = before === undefined ? "/memory" : `/memory/${encodeURIComponent(before.id)}`;
    await post(path, { text: written, kind, public: isPublic });
    toast(text.saved);
    saved();
    close();
  };
  return (
    <FormDialog
      title={before === undefined ? text.add : text.edit}
      label={words().system.save}
      disabled={written.trim() === ""}
      act={save}
      onClose={close}
    >
      <TextField id="memory-text" label={text.text} rows={4} value={written} onValue={setWritten} />
      <fieldset class="choices">
        <legend class="label">{text.kind}</legend>
        {kinds.map((name) => (
          <label class="check" key={name}>
            <input type="radio" name="memory-kind" checked={kind === name} onChange={() => setKind(name)} />
            {text.kinds[name]}
          </label>
        ))}
      </fieldset>
      <label class="check">
        <input
          type="checkbox"
          checked={isPublic}
          aria-describedby="memory-public-note"
          onChange={({ currentTarget: { checked } }) => setPublic(checked)}
        />
        {text.public}
      </label>
      <p id="memory-public-note" class="t3 small note">
        {text.publicNote}
      </p>
    </FormDialog>
  );
}

function Removal({ of, removed, close }: { of: Entry | "all"; removed: () => void; close: () => void }) {
  const text = words().memory;
  const leave = async () => {
    await remove(of === "all" ? "/memory" : `/memory/${encodeURIComponent(of.id)}`);
    toast(text.removed);
    removed();
    close();
  };
  return (
    <ConfirmDialog
      title={of === "all" ? text.clearAsk : text.removeAsk}
      label={text.remove}
      act={leave}
      onClose={close}
    >
      {of !== "all" && <p class="words">{safeText(of.text)}</p>}
      <p class="t2">{text.removeMore}</p>
    </ConfirmDialog>
  );
}
