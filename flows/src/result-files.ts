import type { Part, StoredFile } from "manyhands";
import type { Flow } from "manyhands/flows";

/** Of each name the newest file of these results, given in their order. */
export function newestFiles(results: readonly (readonly StoredFile[])[]): StoredFile[] {
  return [...new Map(results.flat().map((file) => [file.name, file])).values()];
}

/** The files that go along from earlier results to the next agent: of each name the newest. */
export function carriedFiles(results: readonly (readonly StoredFile[])[]): Part[] {
  return newestFiles(results).map((file) => ({ type: "file", ...file }));
}

/**
 * Hands on what several branches made. Of two different files by the same name the later one is put
 * under its branch's name.
 */
export function handOnBranches(
  flow: Flow,
  branches: readonly { readonly name: string; readonly files: readonly StoredFile[] }[],
): void {
  const taken = new Map<string, string>();
  for (const { name, files } of branches) {
    for (const file of files) {
      const sha256 = taken.get(file.name);
      if (sha256 === undefined) taken.set(file.name, file.sha256);
      if (sha256 === undefined) flow.handOn([file]);
      else if (sha256 !== file.sha256) flow.handOn([{ ...file, name: `${name}/${file.name}` }]);
    }
  }
}
