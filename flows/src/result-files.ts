import type { Part, StoredFile } from "manyhands";
import type { Flow } from "manyhands/flows";

/** The newest file of each name in these results, given in their order. */
export function newestFiles(results: readonly (readonly StoredFile[])[]): StoredFile[] {
  return [...new Map(results.flat().map((file) => [file.name, file])).values()];
}

/** The files from earlier results for the next agent: the newest of each name. */
export function carriedFiles(results: readonly (readonly StoredFile[])[]): Part[] {
  return newestFiles(results).map((file) => ({ type: "file", ...file }));
}

/**
 * Hands on the files of several branches. Of two different files with the same name, the later one
 * is put in a folder named after its branch.
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
