import type { Approval } from "manyhands/internal/runs/run-view";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { runPath } from "../api/catalog.ts";
import { newKey, post, refusedAs } from "../api/client.ts";
import { draftOf } from "../state/drafts.ts";
import { isAboutPage } from "../state/page-question.ts";
import { address } from "../state/router.ts";
import { refreshRuns } from "../state/store.ts";
import { safeText } from "../words/format.ts";
import { words } from "../words/words.ts";
import { Button } from "./button.tsx";
import { Glyph } from "./icons/glyph.tsx";
import { Icon } from "./icons/icon.tsx";
import { Markdown } from "./markdown.tsx";
import { complain, toast } from "./toast.tsx";

/** Presses are ignored for so long after the card appeared: the pointer may have been elsewhere. */
const guardMs = 400;

/** A question of a run to the person. */
export type OpenQuestion = {
  readonly runId: string;
  readonly contextId: string;
  readonly who: string;
  readonly kind: "question" | "approval" | "authorization";
  readonly question: string;
  /** The number of the event that asked. */
  readonly questionEvent?: number | undefined;
  readonly approval?: Approval;
};

/**
 * An open question. It is drawn from the journal: an approval shows what would happen and the exact
 * arguments, and nothing is chosen beforehand. The keys A, T and D work while the card has the
 * focus.
 */
export function QuestionCard({ runId, contextId, who, kind, question, questionEvent, approval }: OpenQuestion) {
  const text = words();
  const [deciding, setDeciding] = useState(false);
  const shownAt = useRef(performance.now());
  const key = useRef(newKey());
  const title = useId();
  useEffect(() => {
    shownAt.current = performance.now();
  }, []);
  const isApproval = kind === "approval" && approval !== undefined;
  const answer = async (said: string) => {
    if (deciding || performance.now() - shownAt.current < guardMs) return false;
    setDeciding(true);
    try {
      const body = { input: said, ...(questionEvent !== undefined && { questionEvent }) };
      await post(`${runPath(runId)}/answer`, body, { "Idempotency-Key": key.current });
      void refreshRuns();
      return true;
    } catch (error) {
      setDeciding(false);
      if (!refusedAs(error, "run_ended")) {
        complain(error);
        void refreshRuns();
      } else {
        // The card goes with the question, so what was typed into it moves to where one goes on.
        if (!isApproval && said !== "") keepIn(contextId, said);
        toast(text.endedBeforeAnswer);
        void refreshRuns();
      }
      return false;
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const isField = event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLInputElement;
    if (!isApproval || isField || event.ctrlKey || event.metaKey || event.altKey) return;
    const said = {
      a: `yes ${approval.id}`,
      t: approval.forTask === undefined ? undefined : forTask(approval.id),
      d: "no",
    }[event.key.toLowerCase()];
    if (said === undefined) return;
    event.preventDefault();
    void answer(said);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a card takes the focus, and several are no landmarks.
    <div class="ask" role="group" aria-labelledby={title} tabIndex={-1} onKeyDown={onKeyDown} data-question={kind}>
      <div class="cap" id={title}>
        <Glyph shape={kind === "authorization" ? "auth" : "ask"} label={false} />
        {kind === "approval"
          ? text.approvalOf(who)
          : kind === "authorization"
            ? text.loginOf(who)
            : text.questionOf(who)}
      </div>
      <div class="in">
        {isApproval ? <ApprovalFacts who={who} approval={approval} /> : <Markdown text={question} />}
        {isApproval ? (
          <Decision approval={approval} deciding={deciding} answer={answer} />
        ) : (
          <>
            {isAboutPage(question) && (
              <a class="btn" href={address(["runs", runId, "live"])}>
                <Icon name="pointer" small />
                {text.livePage.take}
              </a>
            )}
            <Answer draft={`question-${runId}-${questionEvent ?? ""}`} deciding={deciding} answer={answer} />
          </>
        )}
      </div>
    </div>
  );
}

/** Puts an answer that came too late into the conversation's draft, unless there is one. */
function keepIn(contextId: string, said: string): void {
  const { text } = draftOf(contextId);
  if (text.value === "") text.value = said;
}

/** What will happen, and the exact arguments, unshortened. */
export function ApprovalFacts({ who, approval }: { who: string; approval: Omit<Approval, "id"> }) {
  return (
    <>
      <p class="will">{safeText(approval.risk ?? words().wouldCall(who, approval.name))}</p>
      <div class="args">
        <span>{words().tool}</span>
        <span class="val">{safeText(approval.name)}</span>
        {argumentRows(approval.arguments).map(([name, value]) => [
          <span key={`${name} name`}>{safeText(name)}</span>,
          <span key={`${name} value`} class="val">
            {safeText(value)}
          </span>,
        ])}
      </div>
    </>
  );
}

function argumentRows(text: string): [string, string][] {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) && Object.keys(parsed).length > 0)
      return Object.entries(parsed).map(([name, value]) => [
        name,
        typeof value === "string" ? value : JSON.stringify(value),
      ]);
  } catch {
    // Arguments that are not JSON are shown as they are.
  }
  return [[words().arguments, text]];
}

type Deciding = {
  readonly deciding: boolean;
  /** Whether it was sent: a press too soon, or a refusal, keeps what was typed. */
  readonly answer: (said: string) => Promise<boolean>;
};

function Decision({ approval, deciding, answer }: { readonly approval: Approval } & Deciding) {
  const text = words();
  const about = useId();
  const [reason, setReason] = useState<string | undefined>(undefined);
  return (
    <>
      {reason !== undefined && (
        <div class="field area">
          <textarea
            dir="auto"
            rows={2}
            aria-label={text.reason}
            placeholder={text.reasonPlaceholder}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </div>
      )}
      <div class="acts">
        <Button look="primary" tall shortcut="A" disabled={deciding} onClick={() => void answer(`yes ${approval.id}`)}>
          {deciding ? text.deciding : text.allowOnce}
        </Button>
        {approval.forTask !== undefined && (
          <Button
            tall
            shortcut="T"
            disabled={deciding}
            aria-describedby={about}
            onClick={() => void answer(forTask(approval.id))}
          >
            {text.allowForTask}
          </Button>
        )}
        <Button tall shortcut="D" disabled={deciding} onClick={() => void answer(denialOf(reason))}>
          {text.deny}
        </Button>
        <span class="grow only-d" />
        {reason === undefined && (
          <Button look="ghost" tall disabled={deciding} onClick={() => setReason("")}>
            {text.denyWithReason}
          </Button>
        )}
      </div>
      {approval.forTask !== undefined && (
        <p class="t2 small for-task" id={about}>
          {text.forTaskMeans} {safeText(approval.forTask)}.
        </p>
      )}
    </>
  );
}

/** The words that allow what the question offers for the rest of the task. */
function forTask(id: string): string {
  return `yes ${id} for this task`;
}

/** Anything but the call's own code refuses it; a reason is told to the agent. */
function denialOf(reason: string | undefined): string {
  const said = reason?.trim() ?? "";
  return said === "" ? "no" : `no: ${said}`;
}

function Answer({ draft, deciding, answer }: { readonly draft: string } & Deciding) {
  const text = words();
  const { text: typed } = draftOf(draft);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.value.trim() !== "")
          void answer(typed.value).then((isSent) => {
            if (isSent) typed.value = "";
          });
      }}
    >
      <div class="field area">
        <textarea
          dir="auto"
          rows={2}
          required
          aria-label={text.yourAnswer}
          placeholder={text.yourAnswer}
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
          }}
        />
      </div>
      <div class="acts">
        <Button look="primary" tall type="submit" disabled={deciding}>
          {deciding ? text.sending : text.answer}
        </Button>
      </div>
    </form>
  );
}
