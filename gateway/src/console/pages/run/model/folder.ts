/** A folder of a tree of files; `count`: the files in it and below. */
export type Folder<File> = {
  readonly name: string;
  readonly folders: readonly Folder<File>[];
  readonly files: readonly { readonly name: string; readonly file: File }[];
  readonly count: number;
};

type Growing<File> = { folders: Map<string, Growing<File>>; files: { name: string; file: File }[] };

/**
 * Files in their folders, in the order in which they are given; a folder that only holds one other
 * is one with it.
 */
export function folderOf<File extends { readonly path: string }>(files: readonly File[]): Folder<File> {
  const root: Growing<File> = { folders: new Map(), files: [] };
  for (const file of files) {
    const parts = file.path.split("/").filter((part) => part !== "");
    const name = parts.pop() ?? file.path;
    let folder = root;
    for (const part of parts) {
      const next = folder.folders.get(part) ?? { folders: new Map(), files: [] };
      folder.folders.set(part, next);
      folder = next;
    }
    folder.files.push({ name, file });
  }
  return finished("", root);
}

function finished<File>(name: string, { folders, files }: Growing<File>): Folder<File> {
  const inside = [...folders].map(([one, folder]) => joined(finished(one, folder)));
  return { name, folders: inside, files, count: inside.reduce((sum, { count }) => sum + count, files.length) };
}

function joined<File>(folder: Folder<File>): Folder<File> {
  const [only] = folder.folders;
  if (only === undefined || folder.folders.length > 1 || folder.files.length > 0) return folder;
  return { ...only, name: `${folder.name}/${only.name}` };
}
