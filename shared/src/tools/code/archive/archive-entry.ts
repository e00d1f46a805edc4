/** One thing in an archive, as the archive tells of it: nothing in it has been checked. */
export type ArchiveEntry = {
  readonly path: string;
  readonly kind: "file" | "folder" | "symlink" | "hard-link" | "special";
  readonly executable: boolean;
  /** Where a link leads. */
  readonly target?: string;
  /** The bytes of a file. To be taken, if at all, before the next entry. */
  content(): AsyncIterable<Uint8Array>;
};

/** The content of what has none. */
export async function* nothing(): AsyncGenerator<Uint8Array> {}
