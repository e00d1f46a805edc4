import { useState } from "preact/hooks";
import { post } from "../../api/client.ts";
import { Banner } from "../../parts/banner.tsx";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icons/icon.tsx";
import { toast } from "../../parts/toast.tsx";
import { agents } from "../../state/store.ts";
import { safeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { OperatorOnly } from "./operator-only.tsx";
import { useActs } from "./use-acts.ts";
import { useLoaded } from "./use-loaded.ts";

const path = "/settings/sandbox";
const tiers = ["auto", "srt", "bwrap", "landlock"] as const;
type Tier = (typeof tiers)[number];

type SandboxSettings = {
  readonly file: string;
  readonly tier: { readonly value: Tier | "off"; readonly source: string };
  readonly allowDomains: readonly string[];
  readonly restartNeeded: boolean;
};
type Trial = { readonly works: boolean; readonly tier: string; readonly description: string };

/**
 * How commands are confined: what agents have now, and a form that tries and writes another tier.
 */
export function SandboxSection() {
  const text = words().sandboxSettings;
  const loaded = useLoaded<SandboxSettings>(path);
  const used = agents.value.flatMap(({ name, title = name, sandbox }) =>
    sandbox === undefined ? [] : [[title, sandbox]],
  );
  return (
    <>
      <h2>{text.title}</h2>
      <p>{text.note}</p>
      {loaded.value?.restartNeeded && (
        <Banner tone="wait" glyph={<Icon name="again" />}>
          <b class="med">{text.restartNeeded}</b> <span class="t2">{words().system.restartHow}</span>
        </Banner>
      )}
      {loaded.value?.tier.value === "off" && <Banner tone="fail">{text.off}</Banner>}
      {used.length > 0 && (
        <>
          <h3 class="strong">{text.now}</h3>
          <dl class="kv about">
            {used.map(([title, sandbox]) => (
              <>
                <dt key={title}>{safeText(title ?? "")}</dt>
                <dd>{safeText(sandbox ?? "")}</dd>
              </>
            ))}
          </dl>
        </>
      )}
      <OperatorOnly of={loaded}>
        {loaded.value && <TierForm key={loaded.value.tier.value} settings={loaded.value} saved={loaded.put} />}
      </OperatorOnly>
    </>
  );
}

function TierForm({ settings, saved }: { settings: SandboxSettings; saved: (now: SandboxSettings) => void }) {
  const text = words().sandboxSettings;
  const system = words().system;
  const [tier, setTier] = useState(settings.tier.value);
  const { busy, act } = useActs<"save" | "test">();
  const [trial, setTrial] = useState<Trial | undefined>(undefined);
  const save = () =>
    act("save", async () => {
      saved(await post<SandboxSettings>(path, { tier }));
      toast(system.saved);
    });
  const test = () =>
    act("test", async () => {
      setTrial(undefined);
      setTrial(await post<Trial>(`${path}/test`, { tier }));
    });
  const choose = (name: Tier) => {
    setTier(name);
    setTrial(undefined);
  };
  const isIdle = busy === undefined && tier !== "off";
  return (
    <form
      class="card form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <fieldset class="choices">
        <legend class="label">{text.tier}</legend>
        {tiers.map((name) => (
          <label class="check" key={name}>
            <input type="radio" name="tier" checked={tier === name} onChange={() => choose(name)} />
            <span>
              {name} <span class="t3 small">{text.tiers[name]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <div class="acts">
        <Button look="primary" type="submit" disabled={!isIdle}>
          {busy === "save" ? system.saving : system.save}
        </Button>
        <Button disabled={!isIdle} onClick={() => void test()}>
          {busy === "test" ? system.testing : system.test}
        </Button>
        <span class="t3 small">{text.testNote}</span>
      </div>
      <div role="status">{trial !== undefined && <TrialResult trial={trial} />}</div>
      {settings.allowDomains.length > 0 && (
        <p class="t3 small words">{text.domains(settings.allowDomains.join(", "))}</p>
      )}
      <p class="t3 small words">
        {settings.tier.source !== "default" && `${system.setIn(settings.tier.source)}. `}
        {text.file(settings.file)}
      </p>
    </form>
  );
}

function TrialResult({ trial: { works, tier, description } }: { trial: Trial }) {
  const text = words().sandboxSettings;
  return (
    <Banner tone={works ? "acc" : "fail"} {...(works && { glyph: <Icon name="check" /> })}>
      <b class="med">{works ? text.works(tier) : text.fails}</b>{" "}
      <span class="small words">{safeText(description)}</span>
    </Banner>
  );
}
