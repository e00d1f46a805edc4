import { useEffect, useState } from "preact/hooks";
import { Banner } from "../../parts/banner.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { safeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { failureOf, waitingFor } from "./model/items.ts";
import { ErrorBlock } from "./render/error-block.tsx";
import type { RunPageStore } from "./run-store.ts";
import { useAnswer } from "./run-summary.tsx";

/** Where nothing stands beside the tree; `run-narrow.css` says so too. */
const narrow = matchMedia("(max-width: 900px)");

/**
 * What the run answered, or why it failed or waits, where there is no room beside the tree to say
 * it.
 */
export function RunOutcome({ store }: { store: RunPageStore }) {
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const follow = () => setNarrow(narrow.matches);
    narrow.addEventListener("change", follow);
    return () => narrow.removeEventListener("change", follow);
  }, []);
  return isNarrow ? <Shown store={store} /> : null;
}

function Shown({ store }: { store: RunPageStore }) {
  void store.version.value;
  const text = words().run;
  const { root } = store.tree;
  const answer = useAnswer(root);
  const failure = failureOf(root);
  const waits = waitingFor(root);
  if (waits !== undefined)
    return (
      <div class="run-outcome">
        <Banner tone="wait">{safeText(waits)}</Banner>
      </div>
    );
  if (failure === undefined && answer === "") return null;
  const name = failure === undefined ? text.answer : text.whatFailed;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys.
    <section class="run-outcome" tabIndex={0} aria-label={name}>
      <h2 class="sr">{name}</h2>
      {failure === undefined ? <Markdown text={answer} /> : <ErrorBlock text={failure} whole={text.inFull} />}
    </section>
  );
}
