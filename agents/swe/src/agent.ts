import { defineAgent } from "@manyhands/shared/agent/define-agent";
import type { AgentDefinition, Limits } from "@manyhands/shared/core/agent";
import { changesPatches } from "@manyhands/shared/tools/code/changes-patch";
import { instructionsFor } from "./prompt.ts";
import { skillsFor } from "./skills.ts";
import { type SweDeps, sweTools } from "./tools.ts";

/** SWE, the agent that changes code: finds, edits, tests. */
export function swe({ limits, ...deps }: SweDeps & { readonly limits?: Partial<Limits> }): AgentDefinition {
  const offers = { runsCode: deps.shell.length > 0, clones: deps.egress !== undefined };
  return defineAgent({
    name: "swe",
    title: "SWE",
    description:
      "A software engineer: finds its way in the code it is given, makes the smallest change that mends the cause, runs the tests where it can, and hands over the changed files and a patch.",
    version: "0.1.0",
    instructions: instructionsFor(offers),
    tools: sweTools(deps),
    ...(limits && { limits }),
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
    skills: skillsFor(offers),
  });
}
