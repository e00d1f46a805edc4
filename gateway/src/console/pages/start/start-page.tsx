import { useEffect, useState } from "preact/hooks";
import { Banner } from "../../parts/banner.tsx";
import { Button } from "../../parts/button.tsx";
import { Composer } from "../../parts/composer.tsx";
import { FlowDrawing } from "../../parts/icons/flow-drawing.tsx";
import { StateGlyph } from "../../parts/icons/glyph.tsx";
import { Icon } from "../../parts/icons/icon.tsx";
import { complain } from "../../parts/toast.tsx";
import { titleOf, titleOfName } from "../../state/names.ts";
import { address, place } from "../../state/router.ts";
import { flows, health, rehearses, waiting } from "../../state/store.ts";
import { ageText, plainText, safeText, shortLine } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { choose, fillExample, newTask, startTask } from "./new-task.ts";
import { Choices, Options } from "./task-choices.tsx";

const shownWaiting = 5;

/** Where a task begins: the composer, what needs the person, and examples. */
export function StartPage() {
  const text = words();
  const [busy, setBusy] = useState(false);
  const [optionsOpen, setOptionsOpen] = useState(false);
  const example = place.value.query.get("example");
  const flow = place.value.query.get("flow");
  const known = flows.value;
  useEffect(() => {
    const shown = known.find(({ name }) => name === example);
    if (shown !== undefined) fillExample(shown);
    else if (flow !== null) choose(flow);
  }, [example, flow, known]);
  const send = async () => {
    setBusy(true);
    try {
      await startTask();
    } catch (error) {
      complain(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="scroll">
      <div class="start">
        {rehearses.value && <RehearsalBanner />}
        <h1>{text.whatNeedsDoing}</h1>
        <Composer
          draft={newTask.draft}
          label={text.task}
          placeholder={text.taskPlaceholder}
          busy={busy}
          onSend={() => void send()}
        >
          <Choices optionsOpen={optionsOpen} openOptions={() => setOptionsOpen(!optionsOpen)} />
          <span class="grow" />
          <Button look="primary" type="submit" shortcut="mod+⏎" disabled={busy}>
            {busy ? text.starting : text.start}
          </Button>
        </Composer>
        {optionsOpen && <Options />}
        <NeedsYou />
        <Examples />
      </div>
    </div>
  );
}

function RehearsalBanner() {
  const text = words();
  return (
    <Banner
      tone="acc"
      glyph={<Icon name="star" />}
      action={
        <a class="btn" href={address(["settings", "model"])}>
          {text.connectModel}
        </a>
      }
    >
      <b class="med">{text.rehearsalModel}</b> <span class="t2">{text.rehearsalNote}</span>
      <span class="sr"> {health.value?.model.name}</span>
    </Banner>
  );
}

function NeedsYou() {
  const text = words();
  const runs = waiting.value;
  if (runs.length === 0) return null;
  return (
    <section aria-label={text.needsYou}>
      <div class="sect">
        <h2>{text.needsYou}</h2>
        <a class="t3 small" href={address(["waiting"])}>
          {text.allWaiting}
        </a>
      </div>
      <ul class="list">
        {runs.slice(0, shownWaiting).map((run) => (
          <li key={run.id}>
            <a class="li" href={address(["c", run.contextId])}>
              <StateGlyph state={run.status} />
              <span class="grow cut two">
                <span class="med">{titleOf(run)}</span>{" "}
                <span class="t3">{shortLine(safeText(whatItNeeds(run)), 90)}</span>
              </span>
              <span class="t3 small only-d">{ageText(run.updatedAt)}</span>
              <span class="st s-wait small">{run.approval === undefined ? text.answer : text.review}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What a waiting run needs of the person, in a few words. */
function whatItNeeds({ approval, asker, name, question, error }: (typeof waiting.value)[number]): string {
  if (approval !== undefined) return words().wantsTo(titleOfName(asker ?? name), approval.name);
  return question === undefined ? (error?.message ?? "") : plainText(question);
}

function Examples() {
  const text = words();
  const given = flows.value.filter(({ example }) => example !== undefined);
  if (given.length === 0) return null;
  return (
    <section aria-label={text.examples}>
      <div class="sect">
        <h2>{text.examples}</h2>
        <span class="t3 small">{text.examplesNote(given.length)}</span>
      </div>
      <ul class="cards">
        {given.map((flow) => (
          <li key={flow.name}>
            <button type="button" class="ex" onClick={() => fillAndShow(flow)}>
              <FlowDrawing flow={flow.name} />
              <span class="ex-title">
                {text.exampleTitles[flow.name as "planning"] ?? shortLine(flow.example?.text ?? "", 40)}
              </span>
              <span class="ex-note">
                {flow.title.replace(/ flow$/, "")}. {text.flowNotes[flow.name as "planning"] ?? flow.description}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The composer with the example comes into view, ready to start. */
function fillAndShow(flow: (typeof flows.value)[number]): void {
  fillExample(flow);
  const field = document.querySelector<HTMLTextAreaElement>(".start textarea");
  field?.focus();
  field?.scrollIntoView({ block: "center" });
}
