import { createKeyedQueue } from "../../../core/async/keyed-queue.ts";
import { AppError } from "../../../core/errors.ts";
import { mapBodies } from "../../../core/runs/bodies.ts";
import type { Conversations, FolderOf, HeldConversation } from "../../../core/runs/conversations.ts";
import type { Log } from "../../../core/runs/engine.ts";
import type { Run, RunDefinition } from "../../../core/runs/run.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { workspaceKey } from "../open-workspace.ts";
import type { WorkspaceCheckpoints } from "./checkpoints.ts";

/** What sharing the workspaces of one agent between machines needs. */
export type ShareWorkspacesOptions = {
  readonly conversations: Conversations;
  readonly checkpoints: WorkspaceCheckpoints;
  /** The kind of the agent's runs. */
  readonly kind: string;
  /** Opens a workspace of this machine. */
  open(principal: string, contextId: string): Promise<Workspace>;
  /** Ends what tools keep of a workspace, which is about to be replaced. */
  release(workspace: Workspace): Promise<void>;
  readonly log: Log;
};

/** The workspaces of an agent, wherever its conversations go on. */
export type SharedWorkspaces = {
  /**
   * Opens the workspace of a run that is executed here, once this machine holds its conversation,
   * as it was left where that was held before.
   */
  open(principal: string, contextId: string): Promise<Workspace>;
  /** The same runs; what one did is stored before its end is recorded. */
  storing(definition: RunDefinition): RunDefinition;
};

/** Shares the workspaces of one agent. */
export function shareWorkspaces(options: ShareWorkspacesOptions): SharedWorkspaces {
  const { conversations, checkpoints, kind, log } = options;
  const queue = createKeyedQueue();
  /** The epoch under which a workspace here is the newest. */
  const ready = new Map<string, number>();
  const notices = new Map<string, string>();

  function conversationOf(principal: string, contextId: string): FolderOf {
    return { kind, principal, contextId, folder: workspaceKey(`${kind}/${principal}`, contextId) };
  }

  async function prepare({ principal, contextId, folder }: FolderOf, held: HeldConversation): Promise<void> {
    const { epoch, before, checkpoint, isTakeover } = held;
    if (ready.get(folder) === epoch) return;
    const marker = await checkpoints.marker(folder);
    const isNewest = marker === undefined ? before === 0 : marker.epoch === before || marker.epoch === epoch;
    if (isNewest) await checkpoints.adopt(folder, epoch);
    else {
      await options.release(await options.open(principal, contextId));
      await checkpoints.restore(folder, epoch, checkpoint);
      if (isTakeover) notices.set(folder, noticeOf(checkpoint));
      log.warn({ folder, checkpoint, isTakeover }, "A workspace was taken over from another machine.");
    }
    ready.set(folder, epoch);
  }

  function save(conversation: FolderOf, epoch: number): Promise<void> {
    const { folder } = conversation;
    return queue(folder, async () => {
      // One that was not opened under this epoch has nothing new.
      if (ready.get(folder) !== epoch) return;
      await checkpoints.save(folder, epoch, (checkpoint) => conversations.keep(conversation, epoch, checkpoint));
    });
  }

  conversations.onIdle(async (conversation, epoch) => {
    await save(conversation, epoch);
    ready.delete(conversation.folder);
    return true;
  });

  /** Stores what a run did. If that fails, its machine goes on holding the conversation. */
  async function saveAfter({ principal, contextId }: Run): Promise<void> {
    const conversation = conversationOf(principal, contextId);
    const epoch = ready.get(conversation.folder);
    if (epoch === undefined) return;
    await save(conversation, epoch).catch((error) => {
      if (!(error instanceof AppError)) log.error({ err: error }, "A workspace could not be stored.");
    });
  }

  const storing =
    (execute: RunDefinition["execute"]): RunDefinition["execute"] =>
    async (run, input) => {
      try {
        return await execute(run, input);
      } finally {
        if (!run.abortSignal.aborted) await saveAfter(run);
      }
    };

  return {
    async open(principal, contextId) {
      const conversation = conversationOf(principal, contextId);
      const held = await conversations.hold(conversation);
      await queue(conversation.folder, () => prepare(conversation, held));
      const workspace = await options.open(principal, contextId);
      return {
        ...workspace,
        takeNotice() {
          const notice = notices.get(conversation.folder);
          notices.delete(conversation.folder);
          return notice;
        },
      };
    },
    storing: (definition) => mapBodies(definition, storing),
  };
}

function noticeOf(checkpoint: string | null): string {
  const what =
    checkpoint === null
      ? "None of them had been stored, so the folder is empty"
      : "They are as they were last stored, when a task of this conversation ended or waited";
  return `[The machine with the files of this conversation is gone. ${what}: what was changed after that is lost. Look before you rely on a file.]`;
}
