import type { RunView } from "manyhands/internal/runs/run-view";
import { useEffect, useRef, useState } from "preact/hooks";
import { runPath } from "../../../api/catalog.ts";
import { get, post, remove } from "../../../api/client.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { complain, toast } from "../../../parts/toast.tsx";
import { address } from "../../../state/router.ts";
import { timeText } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";

type Share = { readonly id: string; readonly createdAt: string; readonly expiresAt: string };

const dayMs = 24 * 3_600_000;
const lives = [1, 7, 30, 90];

/** Makes a link that shows this run to anybody who has it, and revokes those there are. */
export function ShareDialog({ run, onClose }: { readonly run: RunView; readonly onClose: () => void }) {
  const text = words();
  const [shares, setShares] = useState<readonly Share[]>([]);
  const [days, setDays] = useState(7);
  const [link, setLink] = useState<string | undefined>(undefined);
  const look = () =>
    get<{ shares: readonly Share[] }>(`/shares?${new URLSearchParams({ runId: run.id })}`).then(
      (found) => setShares(found.shares),
      complain,
    );
  useEffect(() => void look(), [run.id]);
  const make = async () => {
    try {
      const { secret } = await post<{ secret: string }>(`${runPath(run.id)}/shares`, { lifeMs: days * dayMs });
      // The address that this page has may be another than the gateway knows of itself.
      setLink(new URL(address(["shared", secret]), location.href).href);
      await look();
    } catch (error) {
      complain(error);
    }
  };
  const revoke = async (id: string) => {
    try {
      await remove(`/shares/${encodeURIComponent(id)}`);
      setLink(undefined);
      await look();
    } catch (error) {
      complain(error);
    }
  };
  return (
    <Dialog title={text.find.share} onClose={onClose}>
      <p>{text.find.shareShows}</p>
      <fieldset class="choices">
        <legend class="label">{text.find.shareFor}</legend>
        {lives.map((count) => (
          <label class="check" key={count}>
            <input type="radio" name="life" checked={days === count} onChange={() => setDays(count)} />
            {text.find.shareDays(count)}
          </label>
        ))}
      </fieldset>
      {link !== undefined && <MadeLink link={link} />}
      {shares.length > 0 && <Made shares={shares} revoke={revoke} />}
      <div class="acts">
        <span class="grow" />
        <Button onClick={onClose}>{text.close}</Button>
        <Button look="primary" icon="link" onClick={() => void make()}>
          {text.find.shareMake}
        </Button>
      </div>
    </Dialog>
  );
}

function MadeLink({ link }: { readonly link: string }) {
  const text = words();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), [link]);
  const copy = () =>
    navigator.clipboard === undefined
      ? Promise.resolve(complain(new Error(text.copyFailed)))
      : navigator.clipboard.writeText(link).then(
          () => toast(text.copied),
          () => complain(new Error(text.copyFailed)),
        );
  return (
    <div class="share-part">
      <span class="row share-link">
        <span class="field grow">
          <input ref={field} readOnly aria-label={text.find.shareLink} value={link} />
        </span>
        <Button onClick={() => void copy()}>{text.copyLink}</Button>
      </span>
      <p class="note">{text.find.shareOnce}</p>
    </div>
  );
}

function Made({
  shares,
  revoke,
}: {
  readonly shares: readonly Share[];
  readonly revoke: (id: string) => Promise<void>;
}) {
  const text = words().find;
  return (
    <section class="share-part">
      <h3 class="label">{text.shareList(shares.length)}</h3>
      <ul class="list">
        {shares.map(({ id, createdAt, expiresAt }) => (
          <li class="li" key={id}>
            <span class="grow small">
              {text.shareMade(timeText(createdAt))}
              <br />
              <span class="t3">{text.shareUntil(timeText(expiresAt))}</span>
            </span>
            <Button look="ghost" onClick={() => void revoke(id)}>
              {text.shareRevoke}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
