import type { EventOf } from "../../core/events/events.ts";
import { messageSignal, type UserMessage } from "../../core/message.ts";
import type { Run } from "../../core/runs/run.ts";
import type { RemoteTask } from "./ask.ts";
import type { Peers } from "./peers.ts";
import { sendMessage } from "./send-ask.ts";

/** The messages that the user sends while another agent works. */
export type PassedMessages = {
  /** The task, whose question is answered only by messages that come after it. */
  readonly remote: RemoteTask;
  /** The value of `work`, or undefined if a message came first, which has then been sent on. */
  during<Value>(work: (run: Run) => Promise<Value>): Promise<Value | undefined>;
  /** Sends on the messages that came before a question that is answered now. */
  passHeld(): Promise<void>;
};

/**
 * Sends the user's messages on to the agent's task if the ask wants that; otherwise they wait. One
 * that finds the agent asking is held until its question is answered; one that does not arrive, for
 * example because the task has just ended, stays unread.
 */
export function passMessages(run: Run, remote: RemoteTask, peers: Peers): PassedMessages {
  const { ask } = remote;
  const { passedOn } = ask;
  if (passedOn === undefined) return { remote, during: (work) => work(run), passHeld: async () => undefined };
  const held: UserMessage[] = [];
  let count = 0;
  const pass = async (message: UserMessage) => {
    const sent = await sendMessage(run, remote, ++count, { parts: message.parts }, peers);
    if ("fault" in sent) {
      if (sent.fault.code === "conflict") held.push(message);
      return;
    }
    run.emit({ type: "message-heard", messageId: message.messageId, as: "message" } satisfies EventOf<"message-heard">);
    passedOn(message);
  };
  return {
    remote: { ...remote, ask: { ...ask, receiveMessages: (messages) => void held.push(...messages) } },
    async during<Value>(work: (run: Run) => Promise<Value>) {
      const first = await run.race<{ readonly value: Value } | { readonly said: UserMessage }>([
        async (branch) => ({ value: await work(branch) }),
        async (branch) => ({ said: await branch.signal<UserMessage>(messageSignal) }),
      ]);
      if ("value" in first) return first.value;
      await pass(first.said);
      return undefined;
    },
    async passHeld() {
      for (const message of held.splice(0)) await pass(message);
    },
  };
}
