import type { Skill } from "manyhands";

/** What the card promises of SWE on this machine. */
export function skillsFor({ runsCode, clones }: { readonly runsCode: boolean; readonly clones: boolean }): Skill[] {
  const sources = clones
    ? "Takes files, packed repositories and the addresses of public ones."
    : "Takes files and packed repositories, not addresses to clone.";
  return [
    {
      id: "change-code",
      name: "Change code",
      description: `Edits source files, several at once or not at all, and returns the changed ones with a patch. Any step can be undone. ${sources}`,
      tags: ["code", "editing", "patch"],
      examples: ["Add a --json switch to this script.", "Rename total() to sum_of() wherever it is used."],
    },
    ...(runsCode ? [fixing, explaining] : []),
  ];
}

const fixing: Skill = {
  id: "fix-bug",
  name: "Fix a fault",
  description: "Reproduces a fault in a sandbox, finds its cause, mends it and shows that the tests pass.",
  tags: ["code", "debugging", "tests"],
  examples: ["The tests of this project fail. Find out why and fix the code."],
};

const explaining: Skill = {
  id: "explain-code",
  name: "Explain a repository",
  description: "Maps a repository's definitions, searches it and tells how it hangs together, with files and lines.",
  tags: ["code", "search", "review"],
  examples: ["Where does this service check permissions, and what calls that?"],
};
