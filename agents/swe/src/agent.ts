import { type AgentSource, defineAgent } from "manyhands";
import { askHuman, changesPatches, code, editor, images, planning, python, shell, terminate } from "manyhands/tools";
import { instructionsFor } from "./prompt.ts";
import { skillsFor } from "./skills.ts";

/** SWE, the agent that changes code: finds, edits, tests. */
export const swe = (({ runsCode, fetches: clones }) =>
  defineAgent({
    name: "swe",
    title: "SWE",
    description:
      "A software engineer: finds its way in the code it is given, makes the smallest change that mends the cause, runs the tests where it can, and hands over the changed files and a patch.",
    instructions: instructionsFor({ runsCode, clones }),
    tools: [planning(), shell(), python(), editor(), code(), images(), askHuman(), terminate],
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
