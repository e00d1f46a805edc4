import { messageSignal, type UserMessage } from "../tools/human/user-message.ts";
import type { Step } from "./loop.ts";
import { type ReceiveDeps, receive } from "./receive.ts";

/** Takes in, before each turn, what the user has said meanwhile: a message sent to a working task steers it. */
export function hearUser(step: Step, deps: ReceiveDeps): Step {
  return async (task) => {
    for (const message of await task.run.poll<UserMessage>(messageSignal)) {
      task.messages.push(await receive(task.run, message, deps));
    }
    return step(task);
  };
}
