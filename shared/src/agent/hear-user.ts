import { messageSignal, type UserMessage } from "../core/message.ts";
import type { Step } from "./loop.ts";
import { type ReceiveDeps, receive } from "./receive.ts";
import type { TaskState } from "./task-state.ts";

/**
 * Takes in, before each turn, what the user has said meanwhile: a message sent to a working task steers it. One that arrived while the
 * agent came to its end is heard too, in another turn, if the task has one left.
 */
export function hearUser(step: Step, deps: ReceiveDeps): Step {
  return async (task) => {
    await collectMessages(task);
    for (const message of task.inbox.splice(0)) {
      task.messages.push(await receive(task.run, message, task, deps));
    }
    if ((await step(task)) === "continue") return "continue";
    await collectMessages(task);
    if (task.inbox.length === 0 || task.step === task.limits.steps) return "done";
    task.outcome = undefined;
    return "continue";
  };
}

/** Moves what has arrived into the task's inbox. Done before a person is asked, so that only what comes after the question answers it. */
export async function collectMessages(task: TaskState): Promise<void> {
  task.inbox.push(...(await task.run.poll<UserMessage>(messageSignal)));
}
