/**
 * The folder of one conversation: all that its tools may touch. Paths from models go through
 * `resolve`.
 */
export interface Workspace {
  /** Whose conversation it is. */
  readonly principal: string;
  /** Absolute path of the folder, symlinks resolved. */
  readonly root: string;
  /** A folder beside it that tool processes cannot see, for undo history and plans. */
  readonly metaRoot: string;
  /**
   * The absolute path that `path` (absolute or relative to the root) names. Throws an AppError
   * `forbidden` if that is outside, even through a symlink. The file need not exist.
   */
  resolve(path: string): Promise<string>;
  /**
   * Writes text too long for a model below `.manyhands/output/` and returns the path relative to
   * the root. A Blob of a file is streamed.
   */
  spill(name: string, content: string | Uint8Array | Blob): Promise<string>;
  /**
   * Hands a file or folder that this process made inside the root over to the user that tool
   * processes run as.
   */
  adopt(path: string): Promise<void>;
  /** What happened to the files without the model's knowledge; returned once. */
  takeNotice?(): string | undefined;
}

/** What opens the workspaces of conversations. */
export type Workspaces = { openWorkspace(principal: string, contextId: string): Promise<Workspace> };

/** A file kept by the SHA-256 of its content. */
export type StoredFile = {
  readonly sha256: string;
  readonly name: string;
  readonly mediaType: string;
  readonly size: number;
};

/**
 * Files exchanged with callers and agents: stored once per content, served at
 * `/artifacts/{sha256}/{name}`.
 */
export interface ArtifactStore {
  put(
    content: Uint8Array | ReadableStream<Uint8Array>,
    about: { name: string; mediaType?: string },
  ): Promise<StoredFile>;
  /** What `put` returns for this content, without storing it. */
  describe(content: Uint8Array, about: { name: string; mediaType?: string }): StoredFile;
  /** The content as a file-backed Blob; undefined if it is not stored here. */
  get(sha256: string): Promise<Blob | undefined>;
}

/** A store whose content can be looked through and removed. */
export interface KeptArtifacts extends ArtifactStore {
  /** The hashes of what was last stored before then, a page at a time. */
  old(before: number): AsyncIterable<readonly string[]>;
  /** Removes content unless it was stored again after `notAfter`; false if it was. */
  remove(sha256: string, notAfter: number): Promise<boolean>;
  /**
   * Removes this machine's old copies of what is kept elsewhere, which `get` brings again. What is
   * in use and not there yet is put there first.
   */
  dropCopies?(inUse: (hashes: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void>;
}

/** A bucket of any service that speaks the S3 API. */
export type BucketOptions = {
  /** The service's address, such as `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region?: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Whether the bucket's name is part of the host's instead of the path. Default false. */
  readonly virtualHosted?: boolean;
};
