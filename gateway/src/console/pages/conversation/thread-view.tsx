import type { RunView } from "manyhands/internal/runs/run-view";
import { iconOfFile } from "../../parts/composer.tsx";
import { AgentGlyph } from "../../parts/icons/agent-glyph.tsx";
import { Glyph } from "../../parts/icons/glyph.tsx";
import { Icon } from "../../parts/icons/icon.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { ApprovalFacts, QuestionCard } from "../../parts/question-card.tsx";
import { draftOf } from "../../state/drafts.ts";
import { isFlow, titleOfName } from "../../state/names.ts";
import { clockText, safeText, sizeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import type { Contribution, Note, Question, SaidItem, ThreadItem } from "./thread-items.ts";
import { LiveText, TurnView } from "./turn-view.tsx";
import type { LiveWords } from "./use-run-events.ts";

/** The pieces of a run, in order, and what is being said now. */
export function ThreadView({
  run,
  items,
  version,
  live,
}: {
  readonly run: RunView;
  readonly items: readonly ThreadItem[];
  /**
   * Changes with the items, which grow in place: a component with equal props is not drawn again.
   */
  readonly version: number;
  readonly live: LiveWords;
}) {
  return (
    <>
      {items.map((item) => {
        if (item.kind === "said")
          return <SaidView key={item.seq} said={item} contextId={run.contextId} version={version} />;
        if (item.kind === "question")
          return <QuestionView key={item.seq} run={run} question={item} version={version} />;
        if (item.kind === "note") return <NoteView key={item.seq} note={item} />;
        // A flow that thought, and said nothing: what it decided is told by a line of its own.
        if (isSilent(item)) return null;
        const who = { isFlow: isFlow(item.who), who: titleOfName(item.who) };
        const said = live.filter((one) => turnAtWork(items, one.who) === item);
        return <TurnView key={item.seq} run={run} turn={item} version={version} live={said} {...who} />;
      })}
      {live
        .filter(({ who }) => turnAtWork(items, who) === undefined)
        .map(({ who, text, isVoid }) => (
          <article class="turn" key={`${who}${isVoid}`}>
            <AgentGlyph name={who} flow={isFlow(who)} />
            <div class="row">
              <h2 class="who">{liveTitle(who)}</h2>
              <Glyph shape="running" label={words().working} />
            </div>
            <div class="body">
              <LiveText text={text} isVoid={isVoid} />
            </div>
          </article>
        ))}
    </>
  );
}

/** The turn under way in which somebody says more. */
function turnAtWork(items: readonly ThreadItem[], who: string): Contribution | undefined {
  return items.findLast(
    (item): item is Contribution => item.kind === "turn" && item.state === "working" && item.who === who,
  );
}

function isSilent({ state, asked, error, parts, calls, progress }: Contribution): boolean {
  if (state !== "done" || asked !== undefined || error !== undefined) return false;
  return [parts, calls, progress].every(({ length }) => length === 0);
}

function liveTitle(who: string): string {
  if (!who.startsWith(":")) return titleOfName(who);
  return words().live[who.slice(1) as "tool-output"] ?? who.slice(1);
}

function SaidView({ said, contextId }: { said: SaidItem; contextId: string; version: number }) {
  return (
    <article class="said">
      <div class="words" dir="auto">
        {safeText(said.text)}
      </div>
      {said.files.length > 0 && (
        <ul class="row wrap files">
          {said.files.map(({ name, size }) => (
            <li class="chipfile" key={name}>
              <Icon name={iconOfFile(name)} small />
              {safeText(name)}
              {size !== undefined && <span class="t3">{sizeText(size)}</span>}
            </li>
          ))}
        </ul>
      )}
      {said.isUnread && (
        <p class="row wrap small t2 unread">
          <Glyph shape="canceled" label={false} />
          {words().notRead}
          {said.text !== "" && (
            <button type="button" class="link" onClick={() => writeAgain(contextId, said.text)}>
              {words().writeAgain}
            </button>
          )}
        </p>
      )}
    </article>
  );
}

/** Puts a message that was not read where one goes on, before what is there. */
function writeAgain(contextId: string, said: string): void {
  const { text } = draftOf(contextId);
  if (!text.value.startsWith(said)) text.value = text.value === "" ? said : `${said}\n\n${text.value}`;
}

const noteGlyphs = { good: "done", bad: "failed", wait: "waiting", begun: "running", plain: "queued" } as const;

function NoteView({ note }: { note: Note }) {
  const line = noteText(note.text);
  return (
    <div class={`said-note ${note.tone}`}>
      {note.tone === "plain" || note.tone === "begun" ? (
        <Icon name={note.tone === "begun" ? "right" : "dots"} small />
      ) : (
        <Glyph shape={noteGlyphs[note.tone]} label={false} />
      )}
      {note.more === undefined ? (
        <span class="words">{safeText(line)}</span>
      ) : (
        <details>
          <summary>{safeText(line)}</summary>
          <pre class="words small">{safeText(note.more)}</pre>
        </details>
      )}
      <time class="t3 small num" dateTime={note.at}>
        {clockText(note.at)}
      </time>
    </div>
  );
}

/** Events without words of their own get ours. */
function noteText(text: string): string {
  const own = {
    ":run-paused": words().paused,
    ":run-resumed": words().resumed,
    ":canceled": words().stoppedByRequest,
    ":failed": words().failed,
  }[text];
  return own ?? text;
}

/** A question: open as a card, answered as one line that opens. */
function QuestionView({ run, question }: { run: RunView; question: Question; version: number }) {
  const text = words();
  const { asked, answer, isOver } = question;
  const who = titleOfName(question.who);
  if (answer === undefined && !isOver) {
    const { approval } = asked;
    return (
      <article class="turn">
        <AgentGlyph name={question.who} flow={isFlow(question.who)} />
        <div class="row">
          <h2 class="who">{who}</h2>
          <time class="t3 small num" dateTime={question.at}>
            {clockText(question.at)}
          </time>
        </div>
        <div class="body">
          <QuestionCard
            runId={run.id}
            contextId={run.contextId}
            who={who}
            kind={asked.kind}
            question={asked.question}
            questionEvent={question.seq}
            {...(approval && { approval })}
          />
        </div>
      </article>
    );
  }
  return (
    <details class="answered">
      <summary>
        <Glyph shape={isDenied(question) ? "canceled" : "done"} label={false} />
        <span class="cut">
          {asked.kind === "approval" ? text.approvalOf(who) : safeText(firstLine(asked.question))}
        </span>
        <span class="t3 small">{outcomeOf(question)}</span>
      </summary>
      <div class="in">
        {asked.approval === undefined ? (
          <Markdown text={asked.question} />
        ) : (
          <ApprovalFacts who={who} approval={asked.approval} />
        )}
        {answer !== undefined && <p class="said words">{safeText(answer.text)}</p>}
      </div>
    </details>
  );
}

const firstLine = (text: string) => text.trim().split("\n")[0] ?? "";

function isDenied({ asked, answer }: Question): boolean {
  return asked.approval !== undefined && answer !== undefined && !isAllowed(asked.approval.id, answer.text);
}

function isAllowed(code: string, text: string): boolean {
  return [`yes ${code}`, `yes ${code} for this task`].includes(text.trim().toLowerCase());
}

function outcomeOf({ asked, answer }: Question): string {
  const text = words();
  if (answer === undefined) return text.noLongerNeeded;
  const clock = clockText(answer.at);
  if (asked.approval === undefined) return text.answeredAt(clock);
  if (!isAllowed(asked.approval.id, answer.text)) return text.deniedAt(clock);
  return answer.text.trim().endsWith("task") ? text.allowedForTaskAt(clock) : text.allowedAt(clock);
}
