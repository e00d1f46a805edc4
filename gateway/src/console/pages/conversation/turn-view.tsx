import type { RunView } from "manyhands/internal/runs/run-view";
import { useState } from "preact/hooks";
import { FileLinks } from "../../parts/file-links.tsx";
import { AgentGlyph } from "../../parts/icons/agent-glyph.tsx";
import { Glyph } from "../../parts/icons/glyph.tsx";
import { Icon } from "../../parts/icons/icon.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { address } from "../../state/router.ts";
import { clockText, durationText, moneyText, safeText, shortLine } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { ChartView, chartsIn, workspaceFile } from "../run/render/chart-view.tsx";
import { prettyJson } from "../run/render/code-block.tsx";
import type { Contribution, ContributionCall, TurnPart } from "./thread-items.ts";
import type { LiveWords } from "./use-run-events.ts";

const shownCharacters = 8_000;

/** What an agent said and did in one go; its calls are folded. */
export function TurnView({
  run,
  turn,
  version,
  live,
  isFlow,
  who,
}: {
  run: RunView;
  turn: Contribution;
  version: number;
  /** What it is saying now. */
  live: LiveWords;
  isFlow: boolean;
  who: string;
}) {
  const text = words();
  const [open, setOpen] = useState(false);
  const facts = factsOf(turn);
  const hasMore = turn.calls.length > 0 || turn.progress.length > 0 || turn.asked !== undefined;
  const newest = turn.progress.at(-1);
  return (
    <article class="turn" data-state={turn.state}>
      <AgentGlyph name={turn.who} flow={isFlow} />
      <div class="row">
        <h2 class="who">{safeText(who)}</h2>
        <time class="t3 small num" dateTime={turn.at}>
          {clockText(turn.at)}
        </time>
        {turn.state === "working" && !turn.isAsking && <Glyph shape="running" label={text.working} />}
        {turn.state === "failed" && <Glyph shape="failed" label={text.failed} />}
        <span class="grow" />
        {hasMore ? (
          <button type="button" class="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
            <Icon name={open ? "down" : "right"} small />
            {facts || text.more}
          </button>
        ) : (
          facts !== "" && <span class="fold">{facts}</span>
        )}
      </div>
      <div class="body">
        {open && <Inside run={run} turn={turn} version={version} />}
        {turn.parts.map((part, index) => (
          <PartView key={index} part={part} />
        ))}
        {turn.state === "working" && newest !== undefined && <p class="t2 words">{safeText(newest)}</p>}
        {live.map(({ text, isVoid }) => (
          <LiveText key={String(isVoid)} text={text} isVoid={isVoid} />
        ))}
        {turn.error !== undefined && <p class="s-fail words">{safeText(turn.error)}</p>}
      </div>
    </article>
  );
}

/** What is being said, as far as it is there; void if the model begins anew. */
export function LiveText({ text, isVoid }: { text: string; isVoid: boolean }) {
  return isVoid ? <del class="t3">{safeText(text)}</del> : <pre class="words">{safeText(text)}</pre>;
}

function factsOf({ calls, progress, milliseconds, usd, unpriced }: Contribution): string {
  const text = words();
  const count = calls.length > 0 ? text.calls(calls.length) : progress.length > 0 ? text.updates(progress.length) : "";
  const cost = usd > 0 ? moneyText(usd) : unpriced ? text.costUnknown : "";
  return [count, milliseconds > 0 ? durationText(milliseconds) : "", cost].filter((part) => part !== "").join(" · ");
}

function PartView({ part }: { part: TurnPart }) {
  if (part.kind === "text") return <Markdown text={part.text} />;
  if (part.kind === "files") return <FileLinks files={part.files} />;
  if (part.kind === "recalled")
    return (
      <details class="t3 notice">
        <summary>{words().recalled(part.entries.length)}</summary>
        <pre class="words small">{safeText(part.entries.join("\n"))}</pre>
      </details>
    );
  const line = part.text === "" ? words().summarized : safeText(part.text);
  return part.more === undefined ? (
    <p class="t3 words notice">{line}</p>
  ) : (
    <details class="t3 notice">
      <summary>{line}</summary>
      <pre class="words small">{safeText(part.more)}</pre>
    </details>
  );
}

/** What a turn folds away: what was asked, what was reported, the calls. */
function Inside({ run, turn }: { run: RunView; turn: Contribution; version: number }) {
  const text = words();
  return (
    <div class="inside">
      {turn.asked !== undefined && (
        <details>
          <summary class="t3 small">{text.wasAsked}</summary>
          <pre class="words small">{safeText(turn.asked)}</pre>
        </details>
      )}
      {turn.progress.length > 0 && (
        <ul class="small t2">
          {turn.progress.map((line, index) => (
            <li key={index} class="words">
              {safeText(line)}
            </li>
          ))}
        </ul>
      )}
      {turn.calls.map((call) => (
        <CallView key={call.id} call={call} runId={run.id} />
      ))}
      {turn.taskId !== undefined && (
        <a class="small link" href={address(["runs", turn.taskId])}>
          {text.openRun}
        </a>
      )}
    </div>
  );
}

function stateOf({ ended, isCut }: ContributionCall) {
  const text = words();
  if (isCut) return ["canceled", text.states.canceled] as const;
  if (ended === undefined) return ["running", text.running] as const;
  return ended.isError ? (["failed", text.failed] as const) : (["done", text.result] as const);
}

/** One call: its name, one telling argument, its time; opened, its arguments and its result. */
function CallView({ call, runId }: { call: ContributionCall; runId: string }) {
  const text = words();
  const { ended } = call;
  const [state, label] = stateOf(call);
  return (
    <details class="call">
      <summary>
        <Glyph shape={state} label={label} />
        <span class="mono">{safeText(call.name)}</span>
        <span class="t3 cut grow mono">{safeText(tellingArgument(call.arguments))}</span>
        {ended !== undefined && <span class="t3 small num">{durationText(ended.milliseconds)}</span>}
      </summary>
      {call.forTask !== undefined && <p class="t2 small">{text.allowedForTask(safeText(call.forTask))}</p>}
      <h3>{text.arguments}</h3>
      <Box text={prettyJson(call.arguments)} />
      <h3>{text.result}</h3>
      {ended === undefined ? (
        <p class="t3 small">{call.isCut ? text.run.cutOff : text.noResult}</p>
      ) : (
        <Box text={ended.text} />
      )}
      {ended !== undefined &&
        call.name === "data_visualization" &&
        chartsIn(ended.text).map((path) => <ChartView key={path} source={workspaceFile(runId, path)} />)}
      <a class="small link" href={address(["runs", runId], { event: call.seq })}>
        {text.openRun}
      </a>
    </details>
  );
}

/** A long text in a box that scrolls, cut until it is wanted whole. */
function Box({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  const shown = whole ? text : text.slice(0, shownCharacters);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys. */}
      <pre class="code" tabIndex={0}>
        {safeText(shown)}
      </pre>
      {shown.length < text.length && (
        <button type="button" class="fold" onClick={() => setWhole(true)}>
          {words().showAll}
        </button>
      )}
    </>
  );
}

/** The first argument that is a text, or all of them. */
function tellingArgument(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null) return shortLine(text, 120);
    const first = Object.values(parsed).find((value) => typeof value === "string");
    return shortLine(first ?? text, 120);
  } catch {
    return shortLine(text, 120);
  }
}
