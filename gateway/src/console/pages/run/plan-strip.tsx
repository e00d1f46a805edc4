import { Glyph, hasEnded } from "../../parts/icons/glyph.tsx";
import { OfLimit } from "../../parts/of-limit.tsx";
import { countText, durationText, moneyText, safeText, shortLine } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { failureOf, type RunItem } from "./model/items.ts";
import { type PlanItem, type PlanState, planColumns } from "./model/plan.ts";
import { callsOf } from "./model/rows.ts";
import type { RunPageStore } from "./run-store.ts";
import { select } from "./selection.ts";

const shapes = { not_started: "queued", in_progress: "running", completed: "done", blocked: "failed" } as const;

/** The plan as a graph, from left to right by what depends on what, and the run's figures. */
export function PlanStrip({ store }: { store: RunPageStore }) {
  void store.version.value;
  const { plan } = store.tree;
  return (
    <div class="plan-strip">
      {plan.length > 0 && <PlanGraph store={store} plan={plan} />}
      <Stats store={store} />
    </div>
  );
}

const node = { height: 28, gap: 6, width: 216, between: 44 };

/** Where the items of a plan are drawn. */
function placesOf(plan: readonly PlanItem[]): ReadonlyMap<string, { readonly x: number; readonly y: number }> {
  const columns = planColumns(plan);
  const tallest = Math.max(...columns.map((column) => column.length));
  return new Map(
    columns.flatMap((column, across) =>
      column.map((item, down) => {
        const y = ((tallest - column.length) / 2 + down) * (node.height + node.gap);
        return [item.id, { x: across * (node.width + node.between), y }] as const;
      }),
    ),
  );
}

function PlanGraph({ store, plan }: { store: RunPageStore; plan: readonly PlanItem[] }) {
  const places = placesOf(plan);
  const all = [...places.values()];
  const width = Math.max(...all.map(({ x }) => x)) + node.width;
  const height = Math.max(...all.map(({ y }) => y)) + node.height;
  const lines = plan.flatMap(({ id, dependsOn }) =>
    dependsOn.flatMap((before) => {
      const [from, to] = [places.get(before), places.get(id)];
      return from && to ? [{ key: `${before}-${id}`, d: lineOf(from, to) }] : [];
    }),
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys.
    <section class="plan-graph only-d" aria-label={words().run.plan} tabIndex={0}>
      <div class="plan-field" style={{ width: `${width}px`, height: `${height}px` }}>
        <svg width={width} height={height} aria-hidden="true">
          {lines.map(({ key, d }) => (
            <path key={key} d={d} />
          ))}
        </svg>
        {plan.map((item) => {
          const at = places.get(item.id);
          const place = { left: `${at?.x ?? 0}px`, top: `${at?.y ?? 0}px` };
          return <PlanNode key={item.id} item={item} place={place} store={store} />;
        })}
      </div>
    </section>
  );
}

function lineOf(from: { x: number; y: number }, to: { x: number; y: number }): string {
  const [x1, y1] = [from.x + node.width, from.y + node.height / 2];
  const [x2, y2] = [to.x, to.y + node.height / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2 - 2} ${y2}M${x2 - 6} ${y2 - 3.5}l4 3.5-4 3.5`;
}

function PlanNode({
  item,
  place,
  store,
}: {
  item: PlanItem;
  place: { left: string; top: string };
  store: RunPageStore;
}) {
  const label: Readonly<Record<PlanState, string>> = words().planStates;
  const run = [...store.tree.runs.values()].find((one) => one !== store.tree.root && one.title === item.text);
  return (
    <button
      type="button"
      class="node"
      style={place}
      title={safeText(item.notes === "" ? item.text : `${item.text}\n${item.notes}`)}
      onClick={() => run && select(store.tree, run)}
    >
      <Glyph shape={shapes[item.status]} label={label[item.status]} />
      <span class="cut">{shortLine(safeText(item.text), 60)}</span>
      <span class="t3">{safeText(item.agent)}</span>
    </button>
  );
}

/** Cached tokens of all model calls that are in sight, as a share of what was read. */
function cachedShare(runs: Iterable<RunItem>): number | undefined {
  let [input, cached] = [0, 0];
  for (const { used } of runs) {
    input += used.input;
    cached += used.cached;
  }
  return input === 0 ? undefined : Math.round((100 * cached) / input);
}

/** Time, tokens, calls and cost against the limit, live. */
function Stats({ store }: { store: RunPageStore }) {
  void store.version.value;
  const text = words().run;
  const { tree } = store;
  const run = store.run.value;
  if (run === undefined) return <dl class="stats" />;
  const ended = hasEnded(run.status) ? Date.parse(run.updatedAt) : Date.now();
  const calls = callsOf(tree.root);
  const failed = calls.filter((call) => failureOf(call) !== undefined).length;
  const share = cachedShare(tree.runs.values());
  return (
    <dl class="stats" tabIndex={0}>
      <div>
        <dt>{text.time}</dt>
        <dd>{durationText(ended - Date.parse(run.createdAt))}</dd>
      </div>
      <div>
        <dt>{text.tokens}</dt>
        <dd>
          {countText(run.usage.tokens)} {share !== undefined && <span class="t3">{text.cached(share)}</span>}
        </dd>
      </div>
      <div>
        <dt>{text.calls}</dt>
        <dd>
          {countText(calls.length)} {failed > 0 && <span class="t3">{text.failedCalls(failed)}</span>}
        </dd>
      </div>
      <Cost usd={run.usage.usd} unpriced={run.usage.unpriced} limit={run.budget?.usd} />
    </dl>
  );
}

function Cost({ usd, unpriced, limit }: { usd: number; unpriced: boolean; limit: number | undefined }) {
  const text = words();
  const known = unpriced && usd === 0 ? text.run.costNotKnown : moneyText(usd);
  return (
    <div>
      <dt>{text.run.cost}</dt>
      <dd>
        {unpriced && usd > 0 ? text.costPartlyUnknown(known) : known}{" "}
        {limit !== undefined && <OfLimit usd={usd} limit={limit} />}
      </dd>
    </div>
  );
}
