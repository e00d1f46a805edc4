/** One entry of an archive, as the archive describes it: nothing in it has been checked. */
export type ArchiveEntry = {
  readonly path: string;
  readonly kind: "file" | "folder" | "symlink" | "hard-link" | "special";
  readonly executable: boolean;
  /** The target of a link. */
  readonly target?: string;
  /** The bytes of a file. Must be read, if at all, before the next entry. */
  content(): AsyncIterable<Uint8Array>;
};

/** The content of an entry that has none. */
export async function* nothing(): AsyncGenerator<Uint8Array> {}
