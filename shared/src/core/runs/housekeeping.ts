/** Whose runs, of which kind: what shares a workspace. */
export type Conversation = { readonly kind: string; readonly principal: string; readonly contextId: string };

/** What a deletion removed from the store. */
export type Deletion = {
  /** The ids of the deleted runs: those that were named, and those that they asked for. */
  readonly runs: readonly string[];
  /** The conversations of which no run is left. */
  readonly emptied: readonly Conversation[];
  /** The hashes of the files that no run refers to any more. */
  readonly files: readonly string[];
  /** When the last of the runs ended, in milliseconds since 1970. */
  readonly endedAt: number;
};

/** Which runs to delete together. */
export type DeletionRequest = {
  readonly runIds: readonly string[];
  /** If given, finds that principal's runs only. */
  readonly principal?: string;
  /** A run that changed after this counts as one that has not ended. Milliseconds since 1970. */
  readonly endedBy?: number;
  /**
   * Called with the conversations of which no run is left, just before the deletion is committed:
   * no run is accepted meanwhile. If it throws, nothing is deleted.
   */
  readonly emptied?: (conversations: readonly Conversation[]) => void;
  /** The next `scrub` removes every trace of these runs from the store's files. */
  readonly thorough?: boolean;
};

/** A page of expired runs, oldest first; `next` continues after it. */
export type ExpiredPage = { readonly runIds: readonly string[]; readonly next?: string };

/** How an engine deletes what it stores, and copies it. */
export interface Housekeeping {
  /**
   * Deletes runs that have ended, with their journals, events and signals, and with all runs of the
   * same principal in this store that their steps asked for. All or none of it. Rejects with
   * `not_found`, or with `conflict` if any of them has not ended. A deleted run's dedupe key is
   * free.
   */
  delete(request: DeletionRequest): Promise<Deletion>;
  /**
   * Runs that ended by `endedBy` and were accepted by `acceptedBy`, unless a run of this store
   * asked for them, or a run of the same principal has not ended that is in their conversation, or
   * in the one named by their id, as those are that notify a task's receivers.
   */
  expired(filter: {
    readonly endedBy: number;
    readonly acceptedBy: number;
    readonly limit: number;
    readonly after?: string;
  }): Promise<ExpiredPage>;
  /**
   * Deletes the journals and signals of runs that ended by `endedBy`; their records and events
   * stay. Looks at `limit` of them, and says how many had any; `next` continues after them. With
   * `dryRun`, deletes nothing.
   */
  deleteJournals(filter: {
    readonly endedBy: number;
    readonly limit: number;
    readonly after?: string;
    readonly dryRun?: boolean;
  }): Promise<{ readonly runs: number; readonly next?: string }>;
  /**
   * Those of these files that a run refers to, in an event or in the journal of an unfinished run.
   */
  filesInUse(hashes: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Removes the content of deleted runs from the store's files, including those beside it; for
   * `thorough` deletions also from unused space in them, which takes longer, and in a large store
   * happens only with `evenLarge`. False if something is left: others were in the way, or the store
   * is large.
   */
  scrub(options?: { readonly evenLarge?: boolean }): Promise<boolean>;
  /**
   * Writes a consistent copy of the store to a new file, while runs go on. Whoever opens the copy
   * can continue its unfinished runs.
   */
  backup(file: string): Promise<void>;
}

/** The files of a home beside its store: workspaces and artifacts. */
export interface HomeFiles {
  /**
   * Puts a conversation's workspace aside, at once: the next task of the conversation gets a new
   * one. `clear` removes it. False if there is none.
   */
  detach(conversation: Conversation): boolean;
  /** The names of workspaces, other than these, that were last opened and changed before then. */
  oldWorkspaces(before: number, limit: number, except: ReadonlySet<string>): Promise<readonly string[]>;
  /** The name of a conversation's workspace. */
  nameOf(conversation: Conversation): string;
  /** Puts a workspace aside by its name, unless it was opened since. */
  detachOld(name: string, before: number): Promise<boolean>;
  /** Removes the workspaces that were put aside, also by a process that is gone. */
  clear(): Promise<void>;
  /** The hashes of artifacts that were stored before then, a page at a time. */
  oldArtifacts(before: number): AsyncIterable<readonly string[]>;
  /** Removes an artifact, unless it was stored again after `notAfter`. False if it was. */
  removeArtifact(sha256: string, notAfter: number): Promise<boolean>;
  /** Removes old copies of artifacts that are kept elsewhere. */
  dropCopies(inUse: Housekeeping["filesInUse"]): Promise<void>;
}
