import type { RunView } from "manyhands/internal/runs/run-view";
import { StateChip } from "../../parts/icons/glyph.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { titleOfName } from "../../state/names.ts";
import { address } from "../../state/router.ts";
import { costText, countText, durationText, safeText, shortLine, timeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import type { PlanItem } from "../run/model/plan.ts";
import { callsOf } from "../run/model/rows.ts";
import { ErrorBlock } from "../run/render/error-block.tsx";
import type { RunPageStore } from "../run/run-store.ts";
import { align } from "./align.ts";
import { Differs, type Stores } from "./sides.tsx";

const sides = ["a", "b"] as const;

/** What both were asked, and what they took: a line for each figure. */
export function ComparedFigures({ stores }: { readonly stores: Stores }) {
  const text = words();
  void stores.a.version.value;
  void stores.b.version.value;
  const figures = { a: figuresOf(stores.a), b: figuresOf(stores.b) };
  return (
    <table class="compare-table">
      <thead>
        <tr>
          <th scope="col">
            <span class="sr">{text.result}</span>
          </th>
          {sides.map((side) => (
            <th scope="col" key={side}>
              <RunName store={stores[side]} side={side.toUpperCase()} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {figures.a.map(([name, a], at) => {
          const b = figures.b[at]?.[1] ?? "";
          // Two runs never begin at once: that says nothing.
          const differs = a !== b && name !== text.started;
          return (
            <tr key={name} class={differs ? "differs" : ""}>
              <th scope="row">
                {name}
                {differs && <Differs />}
              </th>
              <td colSpan={a === b ? 2 : 1}>{a}</td>
              {a !== b && <td>{b}</td>}
            </tr>
          );
        })}
        <PlanRows stores={stores} />
      </tbody>
    </table>
  );
}

function RunName({ store, side }: { readonly store: RunPageStore; readonly side: string }) {
  const run = store.run.value;
  const title = shortLine(safeText(run?.input ?? ""), 80) || words().untitled;
  return (
    <span class="row">
      <b class="ab">{side}</b>
      <a class="cut med" href={address(["runs", store.tree.root.runId])} title={safeText(run?.input ?? "")}>
        {title}
      </a>
      {run && <StateChip state={run.status} />}
    </span>
  );
}

function figuresOf(store: RunPageStore): readonly (readonly [string, string])[] {
  const text = words();
  const run = store.run.value;
  const calls = callsOf(store.tree.root).length;
  return [
    [text.task, safeText(run?.input ?? "")],
    [text.flowOrAgent, run === undefined ? "" : titleOfName(run.name)],
    [text.agents, run?.agents.join(", ") || "–"],
    [text.find.outcome, run === undefined ? "" : text.states[run.status]],
    [text.started, run === undefined ? "" : timeText(run.createdAt)],
    [text.took, tookText(run)],
    [text.run.cost, run === undefined ? "" : costText(run.usage)],
    [text.tokens, countText(run?.usage.tokens ?? 0)],
    [text.run.calls, countText(calls)],
  ];
}

function tookText(run: RunView | undefined): string {
  return run === undefined ? "" : durationText(Date.parse(run.updatedAt) - Date.parse(run.createdAt));
}

function PlanRows({ stores }: { readonly stores: Stores }) {
  const text = words();
  // Equal props draw nothing again: the plans come with the events.
  void stores.a.version.value;
  void stores.b.version.value;
  const names = { key: (item: PlanItem) => item.text, kind: () => "" };
  const items = align(stores.a.tree.plan, stores.b.tree.plan, names);
  return (
    <>
      {items.map(({ a, b }, at) => {
        const isSame = a?.text === b?.text && a?.status === b?.status && a?.agent === b?.agent;
        return (
          <tr key={at} class={isSame ? "" : "differs"}>
            <th scope="row">
              {text.plan} {at + 1}
              {!isSame && <Differs />}
            </th>
            {[a, b].map((item, side) => (
              <td key={sides[side]}>
                {item === undefined ? "–" : `${safeText(item.text)} · ${item.agent} · ${text.planStates[item.status]}`}
              </td>
            ))}
          </tr>
        );
      })}
    </>
  );
}

/** The answers, and why a side failed. */
export function ComparedResults({ stores }: { readonly stores: Stores }) {
  const text = words();
  const isSame = stores.a.run.value?.answer === stores.b.run.value?.answer;
  return (
    <section class="compare-group" aria-label={text.result}>
      <h2>
        {text.result}
        {!isSame && <Differs />}
      </h2>
      <div class="compare-pair">
        {sides.map((side) => {
          const run = stores[side].run.value;
          return (
            <div key={side} class="compare-answer">
              <b class="ab">{side.toUpperCase()}</b>
              {run?.error && <ErrorBlock text={run.error.message} />}
              {run?.answer ? <Markdown text={run.answer} /> : <p class="t3">{text.noResult}</p>}
            </div>
          );
        })}
      </div>
    </section>
  );
}
