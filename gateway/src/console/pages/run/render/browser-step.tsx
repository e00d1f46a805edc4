import type { StoredFile } from "manyhands/internal/core/workspace";
import { useEffect, useRef } from "preact/hooks";
import { isEvent } from "../../../api/events.ts";
import { artifactPath, Picture } from "../../../parts/picture.tsx";
import { safeText, shortLine } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";
import type { CallItem, RunItem } from "../model/items.ts";
import { argumentsOf, hintOf, readArguments, resultOf } from "../model/rows.ts";
import type { RunPageStore } from "../run-store.ts";
import { select } from "../selection.ts";
import { CodeBlock } from "./code-block.tsx";
import { Pictures, picturesIn } from "./pictures.tsx";

/** A step in a page: its picture or its text, its address, what was filled in, and all steps. */
export function BrowserStep({ call, store }: { call: CallItem; store: RunPageStore }) {
  const run = store.tree.runs.get(call.runId);
  const picture = run && pictureOf(run, call);
  const where = run && addressOf(run, call);
  const filled = filledIn(call);
  return (
    <>
      {picture && <Pictures files={[picture]} />}
      {where !== undefined && <p class="mono t2 wraps">{safeText(where)}</p>}
      {run && <FilmStrip run={run} call={call} store={store} />}
      {filled.length > 0 && (
        <div class="tblw">
          <table class="tbl">
            <tbody>
              {filled.map(([field, value]) => (
                <tr key={field}>
                  <td class="t3">{safeText(field)}</td>
                  <td>{safeText(value)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <CodeBlock text={resultOf(call)} />
    </>
  );
}

/** Steps shown in the film strip before and after this one. */
const around = 30;

function FilmStrip({ run, call, store }: { run: RunItem; call: CallItem; store: RunPageStore }) {
  const steps = run.children.filter(
    (child): child is CallItem => child.kind === "call" && child.name.startsWith("browser_"),
  );
  const at = steps.findIndex(({ key }) => key === call.key);
  if (steps.length < 2) return null;
  return (
    <>
      <h3>{words().run.filmStrip}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys. */}
      <section class="film" tabIndex={0} aria-label={words().run.filmStrip}>
        {steps.slice(Math.max(0, at - around), at + around).map((step) => (
          <Shot key={step.key} run={run} step={step} here={step.key === call.key} store={store} />
        ))}
      </section>
    </>
  );
}

function Shot({ run, step, here, store }: { run: RunItem; step: CallItem; here: boolean; store: RunPageStore }) {
  const picture = ownPicture(run, step);
  const name = step.name.replace("browser_", "").replaceAll("_", " ");
  const element = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (here) element.current?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [here]);
  const hint = hintOf(step) || addressOf(run, step) || "";
  return (
    <button
      ref={element}
      type="button"
      class="shot"
      {...(here && { "aria-current": "step" })}
      onClick={() => select(store.tree, step)}
    >
      <span class="pic">
        {picture ? (
          <Picture path={artifactPath(picture)} type={picture.mediaType} name={name} />
        ) : (
          <span class="no-pic small">{shortLine(safeText(resultOf(step)), 90)}</span>
        )}
      </span>
      <span class="cut small" title={safeText(hint)}>
        {safeText(name)}
      </span>
    </button>
  );
}

/** The picture that a step brought itself, or that the model was shown right after it. */
function ownPicture(run: RunItem, { ended }: CallItem): StoredFile | undefined {
  if (ended === undefined) return undefined;
  const own = picturesIn(ended.event);
  if (own.length > 0) return own.at(-1);
  const next = run.replies.find(({ seq }) => seq > ended.seq);
  return next && picturesIn(next.event).at(-1);
}

/** The step's picture, or the newest before it. */
function pictureOf(run: RunItem, call: CallItem): StoredFile | undefined {
  const own = ownPicture(run, call);
  if (own !== undefined) return own;
  const seq = call.ended?.seq ?? call.started.seq;
  for (const { event } of run.events.filter((one) => one.seq < seq).toReversed()) {
    const found = picturesIn(event).at(-1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The page's address at the end of a step, as the newest event that names one says. */
function addressOf(run: RunItem, call: CallItem): string | undefined {
  const seq = call.ended?.seq ?? call.started.seq;
  for (const { event } of run.events.filter((one) => one.seq <= seq).toReversed()) {
    const text = isEvent(event, "tool-ended")
      ? event.text
      : isEvent(event, "model-replied")
        ? (event.observation?.text ?? "")
        : "";
    const found = /(?:The page is now |^Page: )(\S+)/m.exec(text)?.[1];
    if (found !== undefined) return found.replace(/\.$/, "");
  }
  return undefined;
}

function filledIn(call: CallItem): readonly (readonly [string, string])[] {
  const { fields, ref, text } = readArguments(argumentsOf(call));
  if (Array.isArray(fields))
    return fields.map(({ ref: field, value }: { ref?: unknown; value?: unknown }) => [String(field), String(value)]);
  return typeof ref === "string" && typeof text === "string" ? [[ref, text]] : [];
}
