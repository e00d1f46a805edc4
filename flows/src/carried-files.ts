import type { Part } from "@manyhands/shared/tools/human/user-message";
import type { StoredFile } from "@manyhands/shared/workspace/workspace";

/** The files that go along from earlier results to the next agent: of each name the newest. */
export function carriedFiles(results: readonly (readonly StoredFile[])[]): Part[] {
  const newest = new Map(results.flat().map((file) => [file.name, file]));
  return [...newest.values()].map((file) => ({ type: "file", ...file }));
}
