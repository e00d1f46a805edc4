import type { StoredFile } from "manyhands";
import type { Flow } from "manyhands/flows";

/** Hands on what several branches made. Of two different files by the same name the later one is put under its branch's name. */
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
