import type { Part, StoredFile } from "manyhands";
import type { AskOutcome, Flow } from "manyhands/flows";

/** What an agent handed over beside its answer. */
export type HandedOver = Pick<AskOutcome, "files" | "artifacts">;

/** The newest file of each name in these results, given in their order. */
export function newestFiles(results: readonly (readonly StoredFile[])[]): StoredFile[] {
  return newestOf(results);
}

/** The files from earlier results for the next agent: the newest of each name. */
export function carriedFiles(results: readonly (readonly StoredFile[])[]): Part[] {
  return newestFiles(results).map((file) => ({ type: "file", ...file }));
}

/** What several attempts at the same work made, given in their order: the newest of each name. */
export function newestResults(attempts: readonly HandedOver[]): HandedOver {
  const artifacts = newestOf(attempts.map((attempt) => attempt.artifacts ?? []));
  return {
    files: newestFiles(attempts.map(({ files }) => files)),
    ...(artifacts.length > 0 && { artifacts }),
  };
}

function newestOf<Named extends { readonly name: string }>(lists: readonly (readonly Named[])[]): Named[] {
  return [...new Map(lists.flat().map((one) => [one.name, one])).values()];
}

/** A file or an artifact of a result, with what tells contents of the same name apart. */
export type Made = {
  readonly name: string;
  readonly content: string;
  /** Hands it on to the flow's caller under this name. */
  handOn(flow: Flow, name: string): void;
};

/** All that an agent handed over: its artifacts, and the files that are in none of them. */
export function madeIn({ files, artifacts = [] }: HandedOver): Made[] {
  const held = new Set(artifacts.flatMap(({ parts }) => parts.map(fileKey)));
  const ofArtifacts = artifacts.map((artifact): Made => {
    const { name, ...about } = artifact;
    return {
      name,
      content: JSON.stringify(about),
      handOn: (flow, other) => flow.handOn([], [{ ...artifact, name: other }]),
    };
  });
  const ofFiles = files.map((file): Made => {
    return { name: file.name, content: file.sha256, handOn: (flow, name) => flow.handOn([{ ...file, name }]) };
  });
  return [...ofArtifacts, ...ofFiles.filter((_, index) => !held.has(fileKey(files[index])))];
}

function fileKey(part: Part | StoredFile | undefined): string {
  return part !== undefined && "sha256" in part ? `${part.sha256} ${part.name}` : "";
}

/**
 * Hands on what several branches made. Of two different things with the same name, the later one is
 * put in a folder named after its branch.
 */
export function handOnBranches(flow: Flow, branches: readonly (HandedOver & { readonly name: string })[]): void {
  const taken = new Map<string, string>();
  for (const branch of branches) {
    for (const { name, content, handOn } of madeIn(branch)) {
      const before = taken.get(name);
      if (before === undefined) taken.set(name, content);
      if (before === undefined) handOn(flow, name);
      else if (before !== content) handOn(flow, `${branch.name}/${name}`);
    }
  }
}
