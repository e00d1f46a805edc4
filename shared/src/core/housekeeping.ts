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
   * Runs that ended by `endedBy` and were accepted by `acceptedBy`, unless a run of this store asked
   * for them, or a run of the same principal and conversation has not ended.
   */
  expired(filter: {
    readonly endedBy: number;
    readonly acceptedBy: number;
    readonly limit: number;
    readonly after?: string;
  }): Promise<ExpiredPage>;
  /**
   * Deletes the journals and signals of at most `limit` runs that ended by `endedBy`; their records
   * and events stay. Returns how many runs had any.
   */
  deleteJournals(filter: { readonly endedBy: number; readonly limit: number }): Promise<number>;
  /** Those of these files that a run refers to, in an event or in the journal of an unfinished run. */
  filesInUse(hashes: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Removes the content of deleted runs from the store's files, including those beside it; with
   * `thorough`, also from the unused space in them, which takes longer. False if others kept it from
   * doing so: try again later.
   */
  scrub(options?: { readonly thorough?: boolean }): Promise<boolean>;
  /** Writes a consistent copy of the store to a new file, while runs go on. */
  backup(file: string): Promise<void>;
}
