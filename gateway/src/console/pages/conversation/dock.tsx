import type { RunView } from "manyhands/internal/runs/run-view";
import { useRef, useState } from "preact/hooks";
import { runPath } from "../../api/catalog.ts";
import { newKey, post, refusedAs } from "../../api/client.ts";
import { type Said, saidOf } from "../../api/said.ts";
import { Composer } from "../../parts/composer.tsx";
import { hasEnded } from "../../parts/icons/glyph.tsx";
import { Icon } from "../../parts/icons/icon.tsx";
import { complain, toast } from "../../parts/toast.tsx";
import { draftOf } from "../../state/drafts.ts";
import { refreshRuns } from "../../state/store.ts";
import { words } from "../../words/words.ts";

/**
 * Where the person goes on: a message to a task at work, or, after it has ended, the next task of
 * the same flow or agent in this conversation.
 */
export function Dock({ contextId, newest, sent }: { contextId: string; newest: RunView; sent: () => void }) {
  const text = words();
  const draft = draftOf(contextId);
  const [busy, setBusy] = useState(false);
  const key = useRef(newKey());
  const ended = hasEnded(newest.status);
  const send = async () => {
    const [said, files] = [draft.text.value, draft.files.value];
    if (said.trim() === "" && files.length === 0) return;
    setBusy(true);
    try {
      const input = await saidOf(said, files);
      const headers = { "Idempotency-Key": key.current };
      if (ended || !(await isTold(newest, input, headers))) {
        await post(`/flows/${encodeURIComponent(newest.name)}`, { input, contextId }, headers);
        if (!ended) toast(text.endedSoNext);
      }
      key.current = newKey();
      draft.sent(said, files);
      sent();
      void refreshRuns();
    } catch (error) {
      // A refused message is corrected and gets a new key; one without a response keeps it.
      if (error instanceof Error && "status" in error) key.current = newKey();
      complain(error);
    } finally {
      setBusy(false);
    }
  };
  const placeholder = ended ? text.messageNext : newest.question === undefined ? text.messageTask : text.messageAnswer;
  return (
    <div class="dock">
      <Composer
        draft={draft}
        label={text.message}
        placeholder={placeholder}
        rows={1}
        busy={busy}
        onSend={() => void send()}
      >
        <span class="grow" />
        {draft.text.value !== "" && <span class="t3 small only-d kept">{text.draftKept}</span>}
        <button type="submit" class="btn primary icon" aria-label={text.send} title={text.send} disabled={busy}>
          <Icon name="send" />
        </button>
      </Composer>
    </div>
  );
}

/**
 * Tells a task at work. False if it ended meanwhile: the page learns of that later than the press.
 */
async function isTold(run: RunView, input: Said, headers: Readonly<Record<string, string>>): Promise<boolean> {
  try {
    const { questionEvent } = run;
    await post(`${runPath(run.id)}/answer`, { input, ...(questionEvent !== undefined && { questionEvent }) }, headers);
    return true;
  } catch (error) {
    if (refusedAs(error, "run_ended")) return false;
    throw error;
  }
}
