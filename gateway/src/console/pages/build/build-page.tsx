import { useState } from "preact/hooks";
import { getFlows } from "../../api/catalog.ts";
import { post, remove } from "../../api/client.ts";
import { useTitle } from "../../attention/tab.ts";
import { Banner } from "../../parts/banner.tsx";
import { Button } from "../../parts/button.tsx";
import { FlowDrawing } from "../../parts/icons/flow-drawing.tsx";
import { OptionFields } from "../../parts/option-fields.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { complain, toast } from "../../parts/toast.tsx";
import { address, go } from "../../state/router.ts";
import { flows, refreshRuns } from "../../state/store.ts";
import { words } from "../../words/words.ts";
import { OperatorOnly } from "../settings/operator-only.tsx";
import { useLoaded } from "../settings/use-loaded.ts";
import {
  type Composition,
  type CompositionDraft,
  compose,
  draftOf,
  isBeyondForm,
  otherOptions,
  patterns,
} from "./composition.ts";
import { FlowGraph } from "./flow-graph.tsx";
import { MemberList } from "./member-list.tsx";

type Saved = { readonly name: string } & Composition;
type SavedFlows = { readonly flows: readonly Saved[] };
type Checked = { readonly problem?: string; readonly unknownAgents: readonly string[] };

const blank: CompositionDraft = {
  ...{ name: "", title: "", description: "", pattern: "sequential", criteria: "" },
  members: [],
  options: {},
};

const pathOf = (name: string) => `/settings/flows/${encodeURIComponent(name.trim())}`;

/** Puts agents together in a flow, as a form and a drawing; checks, saves and runs it. */
export function BuildPage() {
  const text = words();
  useTitle(text.flows);
  const loaded = useLoaded<SavedFlows>("/settings/flows");
  const [draft, setDraft] = useState<CompositionDraft>(blank);
  const [checked, setChecked] = useState<Checked | undefined>(undefined);
  const change = (changed: Partial<CompositionDraft>) => {
    setDraft({ ...draft, ...changed });
    setChecked(undefined);
  };
  return (
    <>
      <header class="head">
        <h1>{text.flows}</h1>
        <span class="t3 small only-d">{text.system.buildNote}</span>
      </header>
      <div class="scroll">
        <OperatorOnly of={loaded}>
          <div class="build">
            <div>
              <PatternChoice draft={draft} change={change} />
              <Naming draft={draft} change={change} />
              <MemberList draft={draft} change={(members) => change({ members })} />
              <More draft={draft} change={change} />
              <Acts draft={draft} checked={checked} setChecked={setChecked} saved={loaded.put} />
            </div>
            <div>
              <FlowGraph draft={draft} />
              <YourFlows
                saved={loaded.value?.flows ?? []}
                edit={(flow) => {
                  setDraft(draftOf(flow.name, flow, flows.value));
                  setChecked(undefined);
                }}
                removed={() => void loaded.reload()}
              />
            </div>
          </div>
        </OperatorOnly>
      </div>
    </>
  );
}

type Part = { readonly draft: CompositionDraft; readonly change: (changed: Partial<CompositionDraft>) => void };

function PatternChoice({ draft, change }: Part) {
  const text = words();
  return (
    <section aria-label={text.system.pattern}>
      <div class="patterns">
        {patterns.map((pattern) => (
          <button
            key={pattern}
            type="button"
            aria-pressed={draft.pattern === pattern}
            title={text.flowNotes[pattern]}
            onClick={() => change({ pattern, options: {} })}
          >
            <FlowDrawing flow={pattern} />
            <span class="med">
              {flows.value.find(({ name }) => name === pattern)?.title.replace(/ flow$/, "") ?? pattern}
            </span>
          </button>
        ))}
      </div>
      <p class="t3 small note">{text.flowNotes[draft.pattern]}</p>
    </section>
  );
}

function Naming({ draft, change }: Part) {
  const text = words().system;
  return (
    <>
      <TextField
        id="flow-name"
        label={text.flowName}
        value={draft.name}
        required
        note={text.flowNameNote}
        onValue={(name) => change({ name })}
      />
      <TextField id="flow-title" label={text.flowTitle} value={draft.title} onValue={(title) => change({ title })} />
      <TextField
        id="flow-description"
        label={text.flowDescription}
        value={draft.description}
        onValue={(description) => change({ description })}
      />
      {draft.pattern === "loop" && (
        <TextField
          id="flow-criteria"
          label={text.criteria}
          value={draft.criteria}
          rows={2}
          onValue={(criteria) => change({ criteria })}
        />
      )}
    </>
  );
}

function More({ draft, change }: Part) {
  const schemas = otherOptions(draft.pattern, flows.value);
  if (Object.keys(schemas).length === 0) return null;
  return (
    <details>
      <summary class="t2">{words().system.moreOptions}</summary>
      <OptionFields schemas={schemas} entered={draft.options} onChange={(options) => change({ options })} />
    </details>
  );
}

type ActsProps = {
  readonly draft: CompositionDraft;
  readonly checked: Checked | undefined;
  readonly setChecked: (checked: Checked) => void;
  readonly saved: (flows: SavedFlows) => void;
};

function Acts({ draft, checked, setChecked, saved }: ActsProps) {
  const text = words().system;
  const [busy, setBusy] = useState(false);
  const [task, setTask] = useState("");
  const isNamed = draft.name.trim() !== "";
  const act = async (work: () => Promise<void>) => {
    setBusy(true);
    await work().catch(complain);
    setBusy(false);
  };
  const check = () =>
    act(async () => setChecked(await post<Checked>(`${pathOf(draft.name)}/check`, compose(draft, flows.value))));
  const save = async () => {
    saved(await post<SavedFlows>(pathOf(draft.name), compose(draft, flows.value)));
    flows.value = await getFlows();
    toast(text.saved);
  };
  const run = async () => {
    await save();
    const body = { input: { text: task } };
    const { contextId } = await post<{ contextId: string }>(`/flows/${encodeURIComponent(draft.name.trim())}`, body);
    void refreshRuns();
    go(address(["c", contextId]));
  };
  return (
    <>
      <div role="status">
        {checked?.problem !== undefined && <Banner tone="fail">{checked.problem}</Banner>}
        {checked !== undefined && checked.problem === undefined && <Banner tone="acc">{text.fits}</Banner>}
        {checked !== undefined && checked.unknownAgents.length > 0 && (
          <Banner tone="wait">{text.unknownAgents(checked.unknownAgents.join(", "))}</Banner>
        )}
      </div>
      <div class="acts">
        <Button disabled={busy || !isNamed} onClick={() => void check()}>
          {text.checkFlow}
        </Button>
        <Button look="primary" disabled={busy || !isNamed} onClick={() => void act(save)}>
          {text.save}
        </Button>
      </div>
      <TextField id="flow-task" label={text.task} value={task} rows={2} onValue={setTask} />
      <div class="acts">
        <Button disabled={busy || !isNamed || task.trim() === ""} onClick={() => void act(run)}>
          {text.saveRun}
        </Button>
      </div>
    </>
  );
}

const withoutName = ({ name: _, ...flow }: Saved): Composition => flow;

type YourFlowsProps = {
  readonly saved: readonly Saved[];
  readonly edit: (flow: Saved) => void;
  readonly removed: () => void;
};

function YourFlows({ saved, edit, removed }: YourFlowsProps) {
  const text = words().system;
  const drop = async (name: string) => {
    try {
      await remove(pathOf(name));
      flows.value = await getFlows();
      toast(text.removedFlow(name));
      removed();
    } catch (error) {
      complain(error);
    }
  };
  return (
    <section aria-label={text.yourFlows}>
      <h2>{text.yourFlows}</h2>
      {saved.length === 0 && <p class="t3 small note">{text.noFlows}</p>}
      <ul class="list" hidden={saved.length === 0}>
        {saved.map((flow) => (
          <li key={flow.name} class="srv">
            <div class="row wrap">
              <a class="nm grow" href={address([], { flow: flow.name })}>
                {flow.title ?? flow.name}
              </a>
              {/* What the form has no field for would be lost by saving it from here. */}
              {!isBeyondForm(withoutName(flow), flows.value) && (
                <Button look="ghost" aria-label={`${text.edit}: ${flow.name}`} onClick={() => edit(flow)}>
                  {text.edit}
                </Button>
              )}
              <Button look="ghost" aria-label={`${words().remove}: ${flow.name}`} onClick={() => void drop(flow.name)}>
                {words().remove}
              </Button>
            </div>
            <p class="t3 small">{flow.flow}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}
