import type { Run } from "../durable/run.ts";
import type { ToolCall } from "../llm/model.ts";
import { askPerson } from "../tools/human/question.ts";
import type { Act } from "./react.ts";
import type { TaskState } from "./task-state.ts";

/** Decides whether a call may be made: at once, only after a person allowed it, or not at all. Told the arguments as the model wrote them. */
export type ApprovalPolicy = (call: ToolCall) => "allow" | "ask" | "deny";

const expiryMs = 24 * 60 * 60 * 1000;

/**
 * Lets a person decide about the calls the policy names. What the person is shown is made here from the exact call, and the answer has
 * to carry the code of that call: an approval holds for one call with these arguments, once, and for a day.
 */
export function withApproval(act: Act, policy: ApprovalPolicy): Act {
  return async (calls, task) => {
    const allowed: ToolCall[] = [];
    for (const call of calls) {
      const refusal = await refusalOf(call, policy(call), task);
      if (refusal === undefined) allowed.push(call);
      else refuse(call, refusal, task);
    }
    if (allowed.length > 0) await act(allowed, task);
  };
}

async function refusalOf(
  call: ToolCall,
  verdict: ReturnType<ApprovalPolicy>,
  task: TaskState,
): Promise<string | undefined> {
  if (verdict === "allow") return undefined;
  if (verdict === "deny") return "Not allowed by the configuration of this agent.";
  const code = approvalCode(task.run.id, call);
  const answer = await ask(task.run, call, code);
  if (answer === undefined) return "Nobody allowed this call in time; it was not made.";
  if (answer.includes(`yes ${code}`)) return undefined;
  return `The call was not allowed and not made. The person said: ${answer}`;
}

async function ask(run: Run, call: ToolCall, code: string): Promise<string | undefined> {
  const question = `Allow this call?\n\n${call.name} ${call.arguments}\n\nAnswer "yes ${code}" to allow it once, anything else to refuse.`;
  const answer = await askPerson(run, { question, kind: "approval" }, expiryMs);
  return answer?.parts
    .map((part) => (part.type === "text" ? part.text : ""))
    .join(" ")
    .trim();
}

/** Six characters that only this call of this run has. */
function approvalCode(runId: string, call: ToolCall): string {
  return new Bun.CryptoHasher("sha256")
    .update(`${runId}\n${call.id}\n${call.name}\n${call.arguments}`)
    .digest("hex")
    .slice(0, 6);
}

function refuse(call: ToolCall, text: string, task: TaskState): void {
  const { id: callId, name } = call;
  task.run.emit({ type: "tool-ended", callId, name, text, isError: true, milliseconds: 0 });
  task.messages.push({ role: "tool", callId, name, text, isError: true });
}
