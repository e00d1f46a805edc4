import type { Conversation } from "./housekeeping.ts";

/** A conversation and the name of its folder. */
export type FolderOf = Conversation & { readonly folder: string };

/** A conversation that this process holds. */
export type HeldConversation = {
  /** A new one for each holder; nobody else had it, or will. */
  readonly epoch: number;
  /** The epoch of the holder before; 0 if there was none. */
  readonly before: number;
  /** What the newest files were stored as, if they were. */
  readonly checkpoint: string | null;
  /** Whether the holder before never gave it up, because its process is gone. */
  readonly isTakeover: boolean;
};

/**
 * Which process has the newest files of a conversation, where processes have no folder in common.
 * It holds the conversation while it executes runs of it, and others leave those to it; then it
 * gives it up, and whoever needs it next takes it.
 */
export interface Conversations {
  /**
   * Resolves once this process holds the conversation, which another one may have to give up first.
   * Rejects with `unavailable` when no run of it is executed here any more.
   */
  hold(conversation: FolderOf): Promise<HeldConversation>;
  /** Records what its files were stored as; false if another process holds it by now. */
  keep(conversation: Conversation, epoch: number, checkpoint: string): Promise<boolean>;
  /**
   * Called when the last run of a held conversation has left this process, before others may hold
   * it. While it resolves with false, this process goes on holding it, and calls again.
   */
  onIdle(store: (conversation: FolderOf, epoch: number) => Promise<boolean>): void;
  /** Folders of conversations that nobody holds or has used since. */
  unused(before: number, limit: number): Promise<readonly string[]>;
  /** Forgets such a conversation; false if it was used since. */
  forget(folder: string, before: number): Promise<boolean>;
  /** Folders of deleted conversations that may still have something stored. */
  gone(): Promise<readonly string[]>;
  /** Records that nothing of this folder is stored any more. */
  cleared(folder: string): Promise<void>;
  /** Those of these folders that belong to no conversation. */
  unknown(folders: readonly string[]): Promise<ReadonlySet<string>>;
}
