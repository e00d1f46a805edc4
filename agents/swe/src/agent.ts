import { type AgentSource, defineAgent, type Skill } from "manyhands";
import {
  archives,
  askHuman,
  browser,
  changesPatches,
  code,
  documents,
  editor,
  guided,
  images,
  planning,
  python,
  shell,
  terminate,
} from "manyhands/tools";
import { instructionsFor } from "./prompt.ts";

/** SWE, the agent that changes code: finds, edits, tests. */
export const swe = (({ runsCode, fetches: clones, browserMissing }) =>
  defineAgent({
    name: "swe",
    title: "SWE",
    description:
      "A software engineer: finds its way in the code it is given, makes the smallest change that fixes the cause, runs the tests where it can, and hands over the changed files and a patch.",
    instructions: instructionsFor({ runsCode, clones, browses: browserMissing === undefined }),
    tools: [
      planning(),
      shell(),
      python(),
      editor(),
      archives(),
      code(),
      images(),
      documents(),
      browser({ observe: guided }),
      askHuman(),
      terminate,
    ],
    async finish(workspace, { made, removed }) {
      if (made.length === 0 && removed.length === 0) return [];
      const all = await changesPatches(workspace);
      const patches = all.filter(({ folder, changes }) => folder !== "" || changes);
      return patches.map(({ folder, patch }) => ({
        name: patches.length === 1 || folder === "" ? "changes.patch" : `${folder.replaceAll("/", "-")}.patch`,
        mediaType: "text/x-diff",
        content: patch,
      }));
    },
    skills: skillsFor({ runsCode, clones }),
  })) satisfies AgentSource;

/** The skills that SWE's card promises on this machine. */
function skillsFor({ runsCode, clones }: { readonly runsCode: boolean; readonly clones: boolean }): Skill[] {
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
  description: "Reproduces a fault in a sandbox, finds its cause, fixes it and shows that the tests pass.",
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
