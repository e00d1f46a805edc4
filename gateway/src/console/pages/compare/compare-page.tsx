import { useEffect, useMemo } from "preact/hooks";
import { useTitle } from "../../attention/tab.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { address, go, place, setQuery } from "../../state/router.ts";
import { words } from "../../words/words.ts";
import { openRunStore } from "../run/run-store.ts";
import { ComparedCalls } from "./compared-calls.tsx";
import { ComparedFigures, ComparedResults } from "./compared-figures.tsx";
import type { Stores } from "./sides.tsx";

/**
 * Two runs side by side: what they were asked, did, cost and answered, with what differs marked.
 */
export function ComparePage() {
  const text = words();
  const { query } = place.value;
  const [a, b] = [query.get("a"), query.get("b")];
  useTitle(text.find.compareTitle);
  if (a === null || b === null)
    return (
      <div class="scroll">
        <div class="alone">
          <h1 class="sr">{text.find.compareTitle}</h1>
          <Empty
            title={text.find.comparePick}
            action={
              <a class="btn" href={address(["runs"])}>
                {text.runs}
              </a>
            }
          />
        </div>
      </div>
    );
  return <Compared key={`${a} ${b}`} a={a} b={b} />;
}

function Compared({ a, b }: { readonly a: string; readonly b: string }) {
  const text = words();
  const stores = useMemo(() => ({ a: openRunStore(a), b: openRunStore(b) }), [a, b]);
  useEffect(
    () => () => {
      stores.a.close();
      stores.b.close();
    },
    [stores],
  );
  const onlyDiffering = place.value.query.get("only") === "differing";
  const missing = (["a", "b"] as const).filter((side) => stores[side].problem.value !== undefined);
  return (
    <>
      <header class="head">
        <h1>{text.find.compareTitle}</h1>
        <span class="grow" />
        <label class="check">
          <input
            type="checkbox"
            checked={onlyDiffering}
            onChange={() => setQuery({ only: onlyDiffering ? undefined : "differing" })}
          />
          {text.find.hideSame}
        </label>
        <Button
          icon="compare"
          aria-label={text.find.compareSwap}
          onClick={() => go(address(["compare"], { a: b, b: a }))}
        >
          <span class="only-d">{text.find.compareSwap}</span>
        </Button>
      </header>
      {missing.length > 0 ? (
        <div class="scroll">
          <div class="alone">
            <Empty title={missing.map((side) => text.find.compareGone(side.toUpperCase())).join(" ")} />
          </div>
        </div>
      ) : (
        <Sides stores={stores} onlyDiffering={onlyDiffering} />
      )}
    </>
  );
}

function Sides({ stores, onlyDiffering }: { readonly stores: Stores; readonly onlyDiffering: boolean }) {
  const text = words();
  // Both grow while their events come.
  void stores.a.version.value;
  void stores.b.version.value;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys.
    <section class="scroll compare" aria-label={text.find.compareTitle} tabIndex={0}>
      <ComparedFigures stores={stores} />
      <ComparedCalls trees={{ a: stores.a.tree, b: stores.b.tree }} onlyDiffering={onlyDiffering} />
      <ComparedResults stores={stores} />
    </section>
  );
}
