import { useEffect, useState } from "preact/hooks";
import { post } from "../../api/client.ts";
import { Banner } from "../../parts/banner.tsx";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icons/icon.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { toast } from "../../parts/toast.tsx";
import { health, person, rehearses, signInPath } from "../../state/store.ts";
import { durationText, modelText, safeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { OperatorOnly } from "./operator-only.tsx";
import { useActs } from "./use-acts.ts";
import { useLoaded } from "./use-loaded.ts";

type Sourced = { readonly value: string; readonly source: string };
type ModelSettings = {
  readonly file: string;
  readonly model?: Sourced;
  readonly baseUrl: Sourced;
  readonly apiKey?: { readonly source: string };
  readonly restartNeeded: boolean;
};
type Trial = {
  readonly ok: boolean;
  readonly endpoint: string;
  readonly found: "yes" | "no" | "unknown";
  readonly streaming: boolean;
  readonly tools: "native" | "text" | "no";
  readonly firstMs?: number;
  readonly totalMs?: number;
  readonly error?: string;
};

/** The model: what is in use, and a form that writes and tries another. */
export function ModelSection() {
  const text = words();
  const loaded = useLoaded<ModelSettings>("/settings/model");
  const about = health.value;
  return (
    <>
      <h2>{text.model}</h2>
      <p>{text.modelNote}</p>
      {rehearses.value && (
        <Banner tone="acc" glyph={<Icon name="star" />}>
          <b class="med">{text.rehearsalModel}</b> <span class="t2">{text.rehearsalNote}</span>
        </Banner>
      )}
      {loaded.value?.restartNeeded && (
        <Banner tone="wait" glyph={<Icon name="again" />}>
          <b class="med">{text.system.restartNeeded}</b> <span class="t2">{text.system.restartHow}</span>
        </Banner>
      )}
      {about !== undefined && (
        <dl class="kv about">
          <dt>{text.system.inUse}</dt>
          <dd>{modelText(about.model)}</dd>
          <dt>{text.version}</dt>
          <dd>{about.version}</dd>
          {signInPath !== undefined && (
            <>
              <dt>{text.signedInAs}</dt>
              <dd>{person.value ?? "–"}</dd>
            </>
          )}
        </dl>
      )}
      <OperatorOnly of={loaded}>
        {loaded.value && <ModelForm key={JSON.stringify(loaded.value)} settings={loaded.value} saved={loaded.put} />}
        <ThisSystem />
      </OperatorOnly>
    </>
  );
}

function ModelForm({ settings, saved }: { settings: ModelSettings; saved: (now: ModelSettings) => void }) {
  const text = words().system;
  const [model, setModel] = useState(settings.model?.value ?? "");
  const [baseUrl, setBaseUrl] = useState(settings.baseUrl.value);
  const [apiKey, setApiKey] = useState("");
  const [noKey, setNoKey] = useState(false);
  const { busy, act } = useActs<"save" | "test">();
  const [trial, setTrial] = useState<Trial | undefined>(undefined);
  useEffect(() => setTrial(undefined), [model, baseUrl, apiKey, noKey]);
  const change = () => ({
    model: model.trim(),
    // An address shown without its password is not one to save.
    ...(baseUrl.trim() !== settings.baseUrl.value && { baseUrl: baseUrl.trim() }),
    ...(noKey ? { apiKey: null } : apiKey.trim() !== "" && { apiKey: apiKey.trim() }),
  });
  const save = () =>
    act("save", async () => {
      saved(await post<ModelSettings>("/settings/model", change()));
      toast(text.saved);
    });
  const test = () =>
    act("test", async () => {
      setTrial(undefined);
      setTrial(await post<Trial>("/settings/model/test", change()));
    });
  const source = (of: Sourced | undefined) =>
    of === undefined || of.source === "default" ? undefined : text.setIn(of.source);
  return (
    <form
      class="card form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextField
        id="model"
        label={text.modelName}
        value={model}
        required
        note={source(settings.model)}
        onValue={setModel}
      />
      <TextField
        id="endpoint"
        label={text.endpoint}
        type="url"
        value={baseUrl}
        required
        note={source(settings.baseUrl)}
        onValue={setBaseUrl}
      />
      <TextField
        id="key"
        label={text.key}
        type="password"
        autocomplete="off"
        value={apiKey}
        note={settings.apiKey === undefined ? text.keyNone : text.keyStored(settings.apiKey.source)}
        onValue={setApiKey}
      />
      <label class="check">
        <input type="checkbox" checked={noKey} onChange={(event) => setNoKey(event.currentTarget.checked)} />
        {text.keyNotNeeded}
      </label>
      <div class="acts">
        <Button look="primary" type="submit" disabled={busy !== undefined}>
          {busy === "save" ? text.saving : text.save}
        </Button>
        <Button disabled={busy !== undefined || model.trim() === ""} onClick={() => void test()}>
          {busy === "test" ? text.testing : text.test}
        </Button>
        <span class="t3 small">{text.testNote}</span>
      </div>
      <div role="status">{trial !== undefined && <TrialResult trial={trial} />}</div>
      <p class="t3 small words">{text.fileIs(settings.file)}</p>
    </form>
  );
}

function TrialResult({ trial }: { trial: Trial }) {
  const text = words().system;
  if (!trial.ok)
    return (
      <Banner tone="fail">
        <b class="med">{text.testFails}</b> <span class="words">{safeText(trial.error ?? "")}</span>
      </Banner>
    );
  const said = [
    text.found[trial.found],
    trial.streaming ? text.streams : text.streamsNot,
    text.toolCalls[trial.tools],
    trial.firstMs !== undefined && text.firstAfter(durationText(trial.firstMs)),
    trial.totalMs !== undefined && text.allAfter(durationText(trial.totalMs)),
  ];
  const isGood = trial.found !== "no" && trial.tools !== "no";
  return (
    <Banner tone={isGood ? "acc" : "wait"} glyph={<Icon name="check" />}>
      <b class="med">{text.testWorks}</b> {said.filter(Boolean).join(" · ")}
    </Banner>
  );
}

type About = {
  readonly file: string;
  readonly home: string;
  readonly engine: string;
  readonly notes: readonly string[];
};

/** Where this system's data are. */
function ThisSystem() {
  const text = words().system;
  const { value } = useLoaded<About>("/settings");
  if (value === undefined) return null;
  return (
    <>
      <h3 class="strong">{text.place}</h3>
      <dl class="kv about">
        <dt>{text.home}</dt>
        <dd class="words">{value.home}</dd>
        <dt>{text.runsIn}</dt>
        <dd class="words">{value.engine}</dd>
      </dl>
      {value.notes.map((note) => (
        <p key={note} class="t3 small words">
          {note}
        </p>
      ))}
    </>
  );
}
