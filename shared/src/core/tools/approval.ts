import type { Run } from "../runs/run.ts";
import { escapeUnseen } from "../text/sanitize.ts";
import { sha256Of } from "../text/sha256.ts";
import { askPerson } from "./question.ts";

/**
 * A call that a person is asked to allow. `arguments` are JSON text, `risk` what it would do.
 * `forTask`: what the person may allow for the rest of the task besides; left out, only this call.
 */
export type ProposedCall = {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly risk?: string | undefined;
  readonly forTask?: string | undefined;
};

/**
 * What the person decided, in their words. `forTask`: they allowed what the call offered for the
 * rest of the task, not only the call.
 */
export type ApprovalDecision = { readonly allowed: boolean; readonly forTask?: true; readonly said: string };

/** The words that allow a call: once, or for the rest of its task. */
function allowing(code: string, forTask = false): string {
  return forTask ? `yes ${code} for this task` : `yes ${code}`;
}

/** How a call is asked about, beside the call itself. */
export type ApprovalOptions = {
  /**
   * The ask and the task it came from, and the words before the question, for another agent's call.
   */
  readonly askId?: string;
  readonly from?: { readonly agent: string; readonly taskId: string; readonly contextId: string };
  readonly head?: string;
  readonly timeoutMs?: number;
};

/**
 * Asks a person about one call. Only an answer with the call's code allows it; a bare yes may have
 * been meant for another call, so it is asked again once and never accepted. Undefined if nobody
 * answered in time.
 */
export async function askApproval(
  run: Run,
  call: ProposedCall,
  code: string,
  options: ApprovalOptions = {},
): Promise<ApprovalDecision | undefined> {
  let said = await ask(run, call, code, options);
  if (said !== undefined && /^(y|yes|ok|allow)[.!]?$/i.test(said))
    said = await ask(run, call, code, { ...options, head: `${options.head ?? ""}${again}` });
  if (said === undefined) return undefined;
  const words = said
    .replace(/^["'`]|(?<!["'`.!])["'`.!]+$/g, "")
    .replaceAll(/\s+/g, " ")
    .toLowerCase();
  const forTask = call.forTask !== undefined && words === allowing(code, true);
  return { allowed: forTask || words === allowing(code), ...(forTask && { forTask }), said };
}

const again = "Your yes did not say which call it is for: include the code.\n\n";

async function ask(
  run: Run,
  call: ProposedCall,
  code: string,
  { askId, from, head = "", timeoutMs }: ApprovalOptions,
): Promise<string | undefined> {
  const { id: callId, name } = call;
  const text = escapeUnseen(call.arguments);
  // Both quote pages and models: with hidden characters, a person would allow what they do not see.
  const [risk, forTask] = [call.risk, call.forTask].map((one) => one && escapeUnseen(one));
  const more = forTask === undefined ? "" : `"${allowing(code, true)}" to allow ${forTask}, `;
  const would = risk === undefined ? "" : `${risk}\n\n`;
  const question = `${head}Allow this call?\n\n${would}${name} ${text}\n\nAnswer "yes ${code}" to allow it once, ${more}anything else to refuse.`;
  const judged = { ...(risk !== undefined && { risk }), ...(forTask !== undefined && { forTask }) };
  const approval = { id: code, callId, name, arguments: text, ...judged };
  const about = { ...(askId !== undefined && { askId }), ...(from && { from }) };
  const answer = await askPerson(run, { question, kind: "approval", ...about, approval }, timeoutMs);
  return answer?.parts
    .map((part) => (part.type === "text" ? part.text : ""))
    .join(" ")
    .trim();
}

/**
 * Six characters that identify this call of this run, computed from its arguments, its risk and
 * what may be allowed besides as the person reads them.
 */
export function approvalCode(runId: string, { id, name, arguments: text, risk, forTask }: ProposedCall): string {
  const judged = [risk, forTask].filter((one) => one !== undefined);
  return sha256Of([runId, id, name, text, ...judged].join("\n")).slice(0, 6);
}
