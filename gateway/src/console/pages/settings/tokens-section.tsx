import { useState } from "preact/hooks";
import { post, remove } from "../../api/client.ts";
import { Banner } from "../../parts/banner.tsx";
import { Button } from "../../parts/button.tsx";
import { ConfirmDialog, Dialog, FormDialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { complain, toast } from "../../parts/toast.tsx";
import { ageText, timeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { OperatorOnly } from "./operator-only.tsx";
import { useLoaded } from "./use-loaded.ts";

const scopes = ["read", "run", "admin"] as const;
type Scope = (typeof scopes)[number];
type Token = {
  readonly name: string;
  readonly principal: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: string;
  readonly usedAt?: string;
};

/** The tokens of callers: make, list, revoke. */
export function TokensSection() {
  const text = words().system;
  const loaded = useLoaded<{ readonly tokens: readonly Token[]; readonly count: boolean }>("/settings/tokens");
  const [makes, setMakes] = useState(false);
  const [leaving, setLeaving] = useState<string | undefined>(undefined);
  const tokens = loaded.value?.tokens ?? [];
  return (
    <>
      <div class="row">
        <h2 class="grow">{text.tokens}</h2>
        <Button icon="plus" onClick={() => setMakes(true)}>
          {text.newToken}
        </Button>
      </div>
      <p>{text.tokensNote}</p>
      <OperatorOnly of={loaded}>
        {loaded.value?.count === false && <Banner tone="wait">{text.tokensIdle}</Banner>}
        {tokens.length === 0 && <Empty title={text.noTokens}>{text.noTokensMore}</Empty>}
        {tokens.length > 0 && (
          <ul class="list">
            {tokens.map((token) => (
              <li key={token.name} class="srv">
                <div class="row wrap">
                  <h3 class="nm">{token.name}</h3>
                  <span class="t2">
                    {token.principal} · {token.scopes.join(", ")}
                  </span>
                  <span class="grow" />
                  <Button
                    look="ghost"
                    aria-label={`${text.revoke}: ${token.name}`}
                    onClick={() => setLeaving(token.name)}
                  >
                    {text.revoke}
                  </Button>
                </div>
                <p class="t3 small">
                  {text.expires(token.expiresAt === undefined ? text.never : timeText(token.expiresAt))} ·{" "}
                  {text.used(token.usedAt === undefined ? text.never : words().ago(ageText(token.usedAt)))}
                </p>
              </li>
            ))}
          </ul>
        )}
      </OperatorOnly>
      {makes && <NewToken made={() => void loaded.reload()} close={() => setMakes(false)} />}
      {leaving !== undefined && (
        <Revoke name={leaving} done={() => void loaded.reload()} close={() => setLeaving(undefined)} />
      )}
    </>
  );
}

function Revoke({ name, done, close }: { name: string; done: () => void; close: () => void }) {
  const text = words().system;
  const revoke = async () => {
    await remove(`/settings/tokens/${encodeURIComponent(name)}`);
    toast(text.revoked(name));
    done();
    close();
  };
  return (
    <ConfirmDialog title={text.revokeAsk(name)} label={text.revoke} act={revoke} onClose={close}>
      <p class="t2">{text.revokeMore}</p>
    </ConfirmDialog>
  );
}

function NewToken({ made, close }: { made: () => void; close: () => void }) {
  const text = words().system;
  const [name, setName] = useState("");
  const [principal, setPrincipal] = useState("");
  const [days, setDays] = useState("");
  const [granted, setGranted] = useState<readonly Scope[]>(["read", "run"]);
  const [secret, setSecret] = useState<string | undefined>(undefined);
  const create = async () => {
    const body = {
      name: name.trim(),
      scopes: granted,
      ...(principal.trim() !== "" && { principal: principal.trim() }),
      ...(days !== "" && { days: Number(days) }),
    };
    setSecret((await post<{ secret: string }>("/settings/tokens", body)).secret);
    made();
  };
  if (secret !== undefined) return <Secret secret={secret} close={close} />;
  return (
    <FormDialog title={text.newToken} label={text.create} disabled={granted.length === 0} act={create} onClose={close}>
      <TextField id="token-name" label={text.tokenName} value={name} required onValue={setName} />
      <TextField
        id="token-principal"
        label={text.principal}
        value={principal}
        note={text.principalNote}
        onValue={setPrincipal}
      />
      <fieldset class="choices">
        <legend class="label">{text.scopesLabel}</legend>
        {scopes.map((scope) => (
          <label class="check" key={scope}>
            <input
              type="checkbox"
              checked={granted.includes(scope)}
              onChange={({ currentTarget: { checked } }) =>
                setGranted(scopes.filter((one) => (one === scope ? checked : granted.includes(one))))
              }
            />
            {text.scopes[scope]}
          </label>
        ))}
      </fieldset>
      <TextField
        id="token-days"
        label={text.expiresDays}
        type="number"
        min={1}
        max={3650}
        placeholder={text.never}
        value={days}
        onValue={setDays}
      />
    </FormDialog>
  );
}

function Secret({ secret, close }: { secret: string; close: () => void }) {
  const text = words().system;
  const copy = () =>
    navigator.clipboard.writeText(secret).then(
      () => toast(text.copied),
      () => complain(new Error(words().copyFailed)),
    );
  return (
    <Dialog title={text.newToken}>
      <p class="t2">{text.secretOnce}</p>
      <p class="secret">
        <code>{secret}</code>
      </p>
      <div class="acts">
        <Button look="primary" onClick={() => void copy()}>
          {text.copy}
        </Button>
        <Button onClick={close}>{text.done}</Button>
      </div>
    </Dialog>
  );
}
