import { readEvent } from "../../core/events.ts";
import type { RunEvent } from "../../core/run.ts";
import type { PeerAddress } from "./peers.ts";

/** An ask whose task at another agent may be at work; without `taskId` it is not known whether the agent ever had the message. */
export type OpenAsk = {
  readonly askId: string;
  readonly agent: PeerAddress;
  readonly contextId?: string;
  readonly taskId?: string;
};

/** The asks that a run's events leave open. */
export function openAsks(events: readonly RunEvent[]): OpenAsk[] {
  const open = new Map<string, OpenAsk>();
  for (const each of events) {
    const event = readEvent(each);
    if (event.type === "agent-asked") {
      const { askId, agent: name, url, contextId } = event;
      open.set(askId, { askId, agent: { name, url }, ...(contextId !== undefined && { contextId }) });
    } else if (event.type === "agent-accepted") {
      const known = open.get(event.askId);
      if (known !== undefined) open.set(event.askId, { ...known, taskId: event.taskId });
    } else if (event.type === "agent-answered" && event.left !== true) {
      open.delete(event.askId);
    }
  }
  return [...open.values()];
}
