import { AgentGlyph } from "../../parts/icons/agent-glyph.tsx";
import { StateGlyph } from "../../parts/icons/glyph.tsx";
import { Icon } from "../../parts/icons/icon.tsx";
import { OfLimit } from "../../parts/of-limit.tsx";
import { isFlow } from "../../state/names.ts";
import { address } from "../../state/router.ts";
import { ageText, durationText, moneyText, plainText, safeText, shortLine } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import type { ListedRun } from "./runs-query.ts";

/** Agents drawn of one run. */
const maxAgents = 5;

/** A run of the list: its task, where it matches or what it does, what it cost and took. */
export function RunRow({
  run,
  chosen,
  find,
  onChoose,
}: {
  readonly run: ListedRun;
  readonly chosen: boolean;
  readonly find: readonly string[];
  readonly onChoose: () => void;
}) {
  const text = words();
  const title = shortLine(safeText(run.input), 140) || text.untitled;
  const took = Date.parse(run.updatedAt) - Date.parse(run.createdAt);
  const { match } = run;
  const asksOthers = run.agents.some((agent) => agent !== run.name);
  const query = match === undefined ? {} : { event: match.seq, ...(match.runId !== run.id && { run: match.runId }) };
  return (
    <li class={chosen ? "rr x sel" : "rr x"} data-run={run.id}>
      {/* biome-ignore lint/a11y/useSemanticElements: the box is drawn by us, in the state of its row. */}
      <button
        type="button"
        class="ck"
        role="checkbox"
        aria-checked={chosen}
        aria-label={text.run.select(title)}
        onClick={onChoose}
      >
        {chosen && <Icon name="check" small />}
      </button>
      <StateGlyph state={run.status} />
      <div class="two">
        <a class="cut med" href={address(["runs", run.id], query)}>
          {title}
        </a>
        <p class="t3 small cut">
          <Marked text={shortLine(safeText(secondLine(run)), 200)} find={find} />
        </p>
      </div>
      <span class="ags pd">
        <AgentGlyph name={safeText(run.name)} flow={isFlow(run.name, asksOthers)} />
        {run.agents
          .filter((agent) => agent !== run.name)
          .slice(0, maxAgents)
          .map((agent) => (
            <AgentGlyph key={agent} name={safeText(agent)} />
          ))}
      </span>
      <span class="pd">
        <RowCost run={run} />
      </span>
      <span class="r t2 pd">{durationText(took)}</span>
      <span class="r t3">{text.ago(ageText(run.createdAt))}</span>
    </li>
  );
}

function secondLine({ match, error, question, progress, answer, name }: ListedRun): string {
  const said = question ?? answer;
  return match?.text ?? error?.message ?? (said && plainText(said)) ?? progress ?? name;
}

function RowCost({ run: { usage, budget } }: { run: ListedRun }) {
  const text = words();
  const limit = budget?.usd;
  const known =
    usage.tokens === 0 ? "–" : usage.unpriced && usage.usd === 0 ? text.run.costNotKnown : moneyText(usage.usd);
  return (
    <>
      {known} {limit !== undefined && <OfLimit usd={usage.usd} limit={limit} />}
    </>
  );
}

/** A text with the words that were searched for marked. */
function Marked({ text, find }: { text: string; find: readonly string[] }) {
  if (find.length === 0) return <>{text}</>;
  const pattern = new RegExp(`(${find.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "gi");
  return <>{text.split(pattern).map((piece, at) => (at % 2 === 1 ? <mark key={at}>{piece}</mark> : piece))}</>;
}
