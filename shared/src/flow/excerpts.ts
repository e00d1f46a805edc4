import type { Excerpt } from "../core/flow.ts";
import type { Run } from "../core/run.ts";
import type { ArtifactStore, StoredFile } from "../core/workspace.ts";

/** Files that are opened, and bytes that are read of each. */
const mostFiles = 8;
const mostBytes = 4_000;

/** The beginnings of these files, read once and recorded. */
export async function readExcerpts(
  run: Run,
  files: readonly StoredFile[],
  artifacts: Pick<ArtifactStore, "get">,
): Promise<readonly Excerpt[]> {
  if (files.length === 0) return [];
  return run.step(
    "excerpts",
    () => Promise.all(files.map((file, index) => (index < mostFiles ? excerpt(file, artifacts) : unread(file)))),
    { effect: "pure" },
  );
}

function unread({ name, size }: StoredFile): Excerpt {
  return { name, size };
}

async function excerpt(file: StoredFile, artifacts: Pick<ArtifactStore, "get">): Promise<Excerpt> {
  const content = await artifacts.get(file.sha256);
  if (content === undefined) return unread(file);
  const bytes = await content.slice(0, mostBytes).bytes();
  if (bytes.includes(0)) return unread(file);
  const text = new TextDecoder().decode(bytes);
  return { ...unread(file), text: content.size > mostBytes ? `${text}\n[cut off]` : text };
}
