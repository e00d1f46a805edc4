import type { ArtifactStore, StoredFile, Workspace } from "../../core/workspace.ts";
import { openFile } from "./workspace-file.ts";

/** Keeps a copy of a workspace's file in the store, by the name it has there; rejects as `openFile` and `put` do. */
export async function storeFile(workspace: Workspace, store: ArtifactStore, path: string): Promise<StoredFile> {
  await using file = await openFile(workspace, path);
  return await store.put(file.handle.readableWebStream(), { name: file.place.name });
}
