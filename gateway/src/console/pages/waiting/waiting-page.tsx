import type { RunView } from "manyhands/internal/runs/run-view";
import { runPath } from "../../api/catalog.ts";
import { post } from "../../api/client.ts";
import { useTitle } from "../../attention/tab.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { StateGlyph } from "../../parts/icons/glyph.tsx";
import { QuestionCard } from "../../parts/question-card.tsx";
import { complain } from "../../parts/toast.tsx";
import { titleOf, titleOfName } from "../../state/names.ts";
import { address } from "../../state/router.ts";
import { refreshRuns, waiting } from "../../state/store.ts";
import { ageText, safeText, timeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";

/** Everything that waits for the person, of all tasks, the oldest first. */
export function WaitingPage() {
  const text = words();
  useTitle(text.waitingForYou);
  const runs = waiting.value;
  return (
    <>
      <header class="head">
        <h1>{text.waitingForYou}</h1>
      </header>
      <div class="scroll">
        <div class="reading">
          {runs.length === 0 && (
            <Empty
              title={text.nothingWaits}
              action={
                <a class="btn" href="#/">
                  {text.newTask}
                </a>
              }
            >
              {text.nothingWaitsMore}
            </Empty>
          )}
          {runs.map((run) => (
            // By its question, not by its newest event: a card that is made anew ignores presses at
            // first.
            <WaitingRun key={`${run.id} ${run.approval?.id ?? ""} ${run.question ?? ""}`} run={run} />
          ))}
        </div>
      </div>
    </>
  );
}

function WaitingRun({ run }: { run: RunView }) {
  const text = words();
  return (
    <article class="waits" data-run={run.id}>
      <header class="row">
        <StateGlyph state={run.status} />
        <h2 class="strong cut">
          <a href={address(["c", run.contextId])}>{titleOf(run)}</a>
        </h2>
        <span class="grow" />
        <time class="t3 small" dateTime={run.updatedAt} title={timeText(run.updatedAt)}>
          {ageText(run.updatedAt)}
        </time>
      </header>
      {run.status === "paused" ? <Paused run={run} /> : <Asked run={run} />}
      <a class="small link" href={address(["c", run.contextId])}>
        {text.openConversation}
      </a>
    </article>
  );
}

function Asked({ run }: { run: RunView }) {
  const { approval } = run;
  const kind = run.status === "auth-required" ? "authorization" : approval === undefined ? "question" : "approval";
  return (
    <QuestionCard
      key={run.questionEvent}
      runId={run.id}
      contextId={run.contextId}
      who={titleOfName(run.asker ?? run.name)}
      kind={kind}
      question={run.question ?? ""}
      questionEvent={run.questionEvent}
      {...(approval && { approval })}
    />
  );
}

function Paused({ run }: { run: RunView }) {
  const resume = async () => {
    try {
      await post(`${runPath(run.id)}/resume`, {});
      await refreshRuns();
    } catch (error) {
      complain(error);
    }
  };
  return (
    <div class="banner wait">
      <span class="grow words">{safeText(run.error?.message ?? words().paused)}</span>
      <Button onClick={() => void resume()}>{words().tryAgain}</Button>
    </div>
  );
}
