/**
 * The folder of one conversation, and what its tools may touch. Paths given by models go through
 * `resolve`.
 */
export interface Workspace {
  /** Absolute path of the folder, symlinks resolved. */
  readonly root: string;
  /** A folder beside it that no tool process can see: undo history, plans. */
  readonly metaRoot: string;
  /**
   * The absolute path that `path` (absolute or relative to the root) names, or an AppError
   * `forbidden` when that lies outside, also by way of a symlink. The file need not exist.
   */
  resolve(path: string): Promise<string>;
  /**
   * Writes text too long for a model below `.manyhands/output/` and answers the path relative to
   * the root. A Blob of a file is never held whole.
   */
  spill(name: string, content: string | Uint8Array | Blob): Promise<string>;
  /**
   * Gives a file or folder this process made inside the root to the user that tool processes run
   * as.
   */
  adopt(path: string): Promise<void>;
}

/** A file kept by the SHA-256 of its content. */
export type StoredFile = {
  readonly sha256: string;
  readonly name: string;
  readonly mediaType: string;
  readonly size: number;
};

/** Files that travel: kept once per content, served at `/artifacts/{sha256}/{name}`. */
export interface ArtifactStore {
  put(
    content: Uint8Array | ReadableStream<Uint8Array>,
    about: { name: string; mediaType?: string },
  ): Promise<StoredFile>;
  /** The content as a file-backed Blob, undefined when it is not here. */
  get(sha256: string): Promise<Blob | undefined>;
}
