import type { RunEvent } from "../runs/run.ts";
import type { StoredFile } from "../workspace.ts";
import { eventTypes } from "./events.ts";

/** The fields in which events list files. */
const fileFields = ["parts", "files", "images"] as const;

/**
 * The files that a stored event refers to. A hash that somebody wrote into a message's data, its
 * metadata or a flow's own event is not one of them.
 */
export function filesOf(stored: RunEvent): readonly StoredFile[] {
  if (!Object.hasOwn(eventTypes, stored.type)) return [];
  return fileFields.flatMap((field) => {
    const listed = stored[field];
    return Array.isArray(listed) ? (listed.filter(isFile) as unknown as StoredFile[]) : [];
  });
}

function isFile(item: unknown): boolean {
  return typeof item === "object" && item !== null && typeof (item as Partial<StoredFile>).sha256 === "string";
}
