import type { Run } from "../durable/run.ts";
import type { ToolCall } from "../llm/model.ts";
import { askPerson } from "../tools/human/question.ts";
import { collectMessages } from "./hear-user.ts";
import type { PlannedCall } from "./plan-call.ts";
import type { Act } from "./react.ts";
import { refuse } from "./refuse.ts";
import type { TaskState } from "./task-state.ts";

const expiryMs = 24 * 60 * 60 * 1000;

/**
 * Lets a person decide about the calls that need it. What the person is shown is made here from the exact call, and the answer has
 * to be the code of that call: an approval holds for one call with these arguments, once, and for a day.
 */
export function withApproval(act: Act): Act {
  return async (calls, task) => {
    const allowed: PlannedCall[] = [];
    for (const call of calls) {
      const refusal = await refusalOf(call, task);
      if (refusal === undefined) allowed.push(call);
      else refuse(call, refusal, task);
    }
    if (allowed.length > 0) await act(allowed, task);
  };
}

async function refusalOf(call: PlannedCall, task: TaskState): Promise<string | undefined> {
  if (call.approval === "allow") return undefined;
  if (call.approval === "deny") return "Not allowed by the configuration of this agent.";
  const code = approvalCode(task.run.id, call);
  await collectMessages(task);
  const answer = await ask(task.run, call, code);
  if (answer === undefined) return "Nobody allowed this call in time; it was not made.";
  if (answer.replace(/^["'`]|["'`.!]+$/g, "").toLowerCase() === `yes ${code}`) return undefined;
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
