import type { ErrorCode } from "../errors.ts";
import type { Part } from "../message.ts";
import type { TaskUsage } from "../usage.ts";
import type { StoredFile } from "../workspace.ts";

/** How another agent's task ended for the one who asked: as A2A says it, or given up at the asker's deadline. */
export type AskState = "completed" | "failed" | "canceled" | "rejected" | "timed-out";

/**
 * What a run tells of the agents it asks. An ask is open from `agent-asked`, which is stored before anything is sent, until its
 * `agent-answered`: that is how a task at another agent is found again, whatever happened to the asking process.
 */
export type PeerEvent =
  | {
      readonly type: "agent-asked";
      /** Names the ask in this run's events; also the messageId at the other agent. */
      readonly askId: string;
      /** The name the asker calls the agent by. */
      readonly agent: string;
      /** The address of its card. */
      readonly url: string;
      /** One short line of what it is asked. */
      readonly text: string;
      /** The whole message, files by reference. */
      readonly parts: readonly Part[];
      /** The conversation at the other agent that the message goes on in. */
      readonly contextId?: string;
      /** How many agents the task passes through with this one. */
      readonly hops: number;
    }
  /** The agent has the message: this is its task. */
  | {
      readonly type: "agent-accepted";
      readonly askId: string;
      readonly agent: string;
      readonly taskId: string;
      readonly contextId: string;
    }
  /** One short line of what the agent is doing; at most a hundred of an ask are told. */
  | {
      readonly type: "agent-progressed";
      readonly askId: string;
      readonly agent: string;
      readonly text: string;
      /** What its task had used by then, where the agent tells. */
      readonly usedSoFar?: TaskUsage;
    }
  | {
      readonly type: "agent-answered";
      readonly askId: string;
      readonly agent: string;
      readonly state: AskState;
      readonly files: readonly StoredFile[];
      readonly usage?: TaskUsage;
      readonly error?: { readonly code: ErrorCode; readonly message: string };
      /** Its task was given up and may still be at work there, for the agent could not be told; that is tried again later. */
      readonly left?: boolean;
    };

/** What an asked agent says as it says it. Shown live, never stored. */
export type PeerProgress = {
  readonly type: "agent-output";
  readonly askId: string;
  readonly agent: string;
  readonly text: string;
};

/**
 * What an asked agent of ours writes, piece by piece and, as a whole, when a reply is done. Shown live to who follows the asking run in its process, and
 * told nobody else.
 */
export type PeerWriting =
  | { readonly type: "agent-writing"; readonly askId: string; readonly text: string; readonly at: number }
  | { readonly type: "agent-written"; readonly askId: string; readonly text: string };
