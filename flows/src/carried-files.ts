import type { Part, StoredFile } from "manyhands";

/** Of each name the newest file of these results, given in their order. */
export function newestFiles(results: readonly (readonly StoredFile[])[]): StoredFile[] {
  return [...new Map(results.flat().map((file) => [file.name, file])).values()];
}

/** The files that go along from earlier results to the next agent: of each name the newest. */
export function carriedFiles(results: readonly (readonly StoredFile[])[]): Part[] {
  return newestFiles(results).map((file) => ({ type: "file", ...file }));
}
