import { askPerson } from "./question.ts";
import type { Run } from "./run.ts";
import { sha256Of } from "./sha256.ts";

/** A call that a person is asked to allow. `arguments` are JSON text, `risk` what it would do. */
export type ProposedCall = {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly risk?: string | undefined;
};

/** What the person decided, in their words. */
export type Decision = { readonly allowed: boolean; readonly said: string };

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
): Promise<Decision | undefined> {
  let said = await ask(run, call, code, options);
  if (said !== undefined && /^(y|yes|ok|allow)[.!]?$/i.test(said))
    said = await ask(run, call, code, { ...options, head: `${options.head ?? ""}${again}` });
  if (said === undefined) return undefined;
  return { allowed: said.replace(/^["'`]|["'`.!]+$/g, "").toLowerCase() === `yes ${code}`, said };
}

const again = "Your yes did not say which call it is for: include the code.\n\n";

async function ask(
  run: Run,
  { id: callId, name, arguments: text, risk }: ProposedCall,
  code: string,
  { askId, from, head = "", timeoutMs }: ApprovalOptions,
): Promise<string | undefined> {
  const would = risk === undefined ? "" : `${risk}\n\n`;
  const question = `${head}Allow this call?\n\n${would}${name} ${text}\n\nAnswer "yes ${code}" to allow it once, anything else to refuse.`;
  const approval = { id: code, callId, name, arguments: text, ...(risk !== undefined && { risk }) };
  const about = { ...(askId !== undefined && { askId }), ...(from && { from }) };
  const answer = await askPerson(run, { question, kind: "approval", ...about, approval }, timeoutMs);
  return answer?.parts
    .map((part) => (part.type === "text" ? part.text : ""))
    .join(" ")
    .trim();
}

/**
 * Six characters that identify this call of this run, computed from its arguments and its risk as
 * the person reads them.
 */
export function approvalCode(runId: string, { id, name, arguments: text, risk }: ProposedCall): string {
  return sha256Of([runId, id, name, text, ...(risk === undefined ? [] : [risk])].join("\n")).slice(0, 6);
}
