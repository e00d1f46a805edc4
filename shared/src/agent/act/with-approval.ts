import { approvalCode, askApproval } from "../../core/tools/approval.ts";
import type { AgentState } from "../task/agent-state.ts";
import type { Act, PlannedCall } from "../task/loop.ts";
import { collectMessages } from "../task/receive.ts";
import { refuse } from "./called-tool.ts";
import { notPossible, quotedRisk } from "./judge-risk.ts";

const expiryMs = 24 * 60 * 60 * 1000;

/**
 * Lets a person decide about the calls that need approval, before any call of the turn is made;
 * after a refusal, none is made. The question is made here from the exact call, and the answer must
 * contain that call's code: an approval holds for one call with these arguments, once, and for a
 * day. A person who says so allows what the question offers for the rest of this task instead: the
 * calls whose recorded `forTask` is the same, in this run alone.
 */
export function withApproval(act: Act): Act {
  return async (calls, task) => {
    const allowed: PlannedCall[] = [];
    const denied: string[] = [];
    let refused: { readonly call: PlannedCall; readonly why: string } | undefined;
    for (const call of calls) {
      if (call.approval === "deny") {
        refuse(call, denial(call), task);
        denied.push(call.name);
        continue;
      }
      const asks = call.approval === "ask" && !isAllowed(call, task);
      const why = asks && refused === undefined ? await refusalOf(call, task) : undefined;
      if (why !== undefined) refused = { call, why };
      allowed.push(denied.length === 0 ? call : { ...call, deniedBefore: [...denied] });
    }
    if (refused !== undefined)
      for (const call of allowed)
        refuse(call, call.id === refused.call.id ? refused.why : notAlone(refused.call), task);
    else if (allowed.length > 0) await act(allowed, task);
  };
}

function isAllowed({ forTask }: PlannedCall, { allowed }: AgentState): boolean {
  return forTask !== undefined && allowed.has(forTask);
}

function denial({ risk, unwanted, impossible }: PlannedCall): string {
  if (impossible !== undefined) return notPossible(impossible);
  if (unwanted === true) return "Not made: no call of this tool was to be made in this turn.";
  const denied = "Not allowed by the configuration of this agent";
  return risk === undefined ? `${denied}.` : `${denied}, which allows no risky calls. It would:\n${quotedRisk(risk)}`;
}

/**
 * Calls requested together are made together or not at all: a person who refuses one has not agreed
 * to the rest.
 */
function notAlone({ name }: PlannedCall): string {
  return `Not made: it was requested together with a call of ${name} that the person did not allow. Request it again if it is still needed.`;
}

async function refusalOf(call: PlannedCall, task: AgentState): Promise<string | undefined> {
  await collectMessages(task);
  const shown = { ...call, arguments: call.shown ?? call.arguments };
  const decision = await askApproval(task.run, shown, approvalCode(task.run.id, shown), { timeoutMs: expiryMs });
  if (decision === undefined) return "Nobody allowed this call in time; it was not made.";
  if (decision.forTask && call.forTask !== undefined) task.allowed.add(call.forTask);
  if (decision.allowed) return undefined;
  const asked = call.risk === undefined ? " " : ` They were asked:\n${quotedRisk(call.risk)}\n`;
  return `The call was not allowed and not made.${asked}The person said: ${decision.said}`;
}
