import { useState } from "preact/hooks";
import { CutNote } from "../../parts/cut-note.tsx";
import { Glyph } from "../../parts/icons/glyph.tsx";
import { Icon } from "../../parts/icons/icon.tsx";
import { titleOfName } from "../../state/names.ts";
import { address } from "../../state/router.ts";
import { countText, durationText, safeText, shortLine } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { type CallItem, endOf, failureOf, startOf } from "../run/model/items.ts";
import { hintOf } from "../run/model/rows.ts";
import type { RunTree } from "../run/model/run-tree.ts";
import { toolIcon } from "../run/tool-icon.ts";
import type { Pair } from "./align.ts";
import { type ComparedRun, comparedRuns, isSameCall } from "./compared.ts";
import { Differs } from "./sides.tsx";

/** Lines of calls shown per agent before the person asks for more. */
const maxLines = 300;

type Trees = { readonly a: RunTree; readonly b: RunTree };

/** The calls of both runs, agent by agent, in the order in which they were made. */
export function ComparedCalls({ trees, onlyDiffering }: { readonly trees: Trees; readonly onlyDiffering: boolean }) {
  const groups = comparedRuns(trees.a, trees.b).filter(({ calls }) => calls.length > 0);
  return (
    <>
      {groups.map((group, at) => (
        <Group key={at} group={group} trees={trees} onlyDiffering={onlyDiffering} />
      ))}
    </>
  );
}

function Group({
  group,
  trees,
  onlyDiffering,
}: {
  readonly group: ComparedRun;
  readonly trees: Trees;
  readonly onlyDiffering: boolean;
}) {
  const text = words();
  const [all, setAll] = useState(false);
  const run = group.a ?? group.b;
  const name = text.find.callsOf(titleOfName(safeText(run?.name ?? "")));
  const lines = onlyDiffering ? group.calls.filter((pair) => !isSameCall(pair)) : group.calls;
  const cut = !all && lines.length > maxLines;
  return (
    <section class="compare-group" aria-label={name}>
      <h2>
        {name} <span class="t3">{shortLine(safeText(run?.title ?? ""), 100)}</span>
      </h2>
      {lines.length === 0 && <p class="t3">{text.find.sameCalls}</p>}
      <ol>
        {(cut ? lines.slice(0, maxLines) : lines).map((pair, at) => (
          <li key={at} class={isSameCall(pair) ? "compare-pair" : "compare-pair differs"}>
            <Call side="A" call={pair.a} tree={trees.a} pair={pair} />
            <Call side="B" call={pair.b} tree={trees.b} pair={pair} />
          </li>
        ))}
      </ol>
      {cut && (
        <CutNote said={text.run.firstRows(countText(maxLines), countText(lines.length))} showAll={() => setAll(true)} />
      )}
    </section>
  );
}

function Call({
  side,
  call,
  tree,
  pair,
}: {
  readonly side: string;
  readonly call: CallItem | undefined;
  readonly tree: RunTree;
  readonly pair: Pair<CallItem>;
}) {
  const text = words();
  if (call === undefined) return <span class="compare-call none">–</span>;
  const end = endOf(call);
  const alone = pair.a === undefined || pair.b === undefined;
  const query = { event: call.started.seq, ...(call.runId !== tree.root.runId && { run: call.runId }) };
  return (
    <a class="compare-call" href={address(["runs", tree.root.runId], query)}>
      {/* Where the sides stand below each other, a letter tells them apart. */}
      <span class="only-p">
        <b class="ab">{side}</b>
      </span>
      <Icon name={toolIcon(call.name)} small />
      <span class="mono">{safeText(call.name)}</span>
      <span class="t3 cut grow">{shortLine(safeText(hintOf(call)), 80)}</span>
      {failureOf(call) !== undefined && (
        <span class="st s-fail small">
          <Glyph shape="failed" label={false} />
          {text.run.failed}
        </span>
      )}
      {alone ? <span class="differs-mark">{text.find.onlyHere}</span> : !isSameCall(pair) && <Differs />}
      <span class="t3 small num">{end === undefined ? "" : durationText(end - startOf(call))}</span>
    </a>
  );
}
