import { defineAgent } from "@manyhands/shared/agent/define-agent";
import type { AgentDefinition, Limits } from "@manyhands/shared/core/agent";
import type { Tool } from "@manyhands/shared/core/tool";
import type { OpenedBrowsing } from "@manyhands/shared/server/open-browsing";
import { seeImage } from "@manyhands/shared/tools/files/see-image";
import { createStrReplaceEditor } from "@manyhands/shared/tools/files/str-replace-editor";
import { askHuman } from "@manyhands/shared/tools/human/ask-human";
import { terminate } from "@manyhands/shared/tools/human/terminate";
import { createPlanning } from "@manyhands/shared/tools/planning/planning";
import { guided } from "./browsing.ts";
import { instructionsFor } from "./prompt.ts";

/** What Manus is given: the tools that run code, none where no sandbox could be had, and those that read the web, none where switched off. */
type ManusDeps = {
  readonly shell: readonly Tool[];
  readonly web: readonly Tool[];
  /** The agents it can give parts of a task to; none when left out. */
  readonly delegates?: readonly string[];
  /** A screen with programs; none when left out. */
  readonly desktop?: readonly Tool[];
  /** The browser's tools and its sight; none when left out. */
  readonly browsing?: OpenedBrowsing;
  readonly limits?: Partial<Limits>;
};

/** Manus, the general agent. */
export function manus(deps: ManusDeps): AgentDefinition {
  const runsCode = deps.shell.length > 0;
  const readsWeb = deps.web.length > 0;
  const delegates = (deps.delegates ?? []).length > 0;
  const { tools: browserTools = [], look } = deps.browsing ?? {};
  const browses = look !== undefined;
  return defineAgent({
    name: "manus",
    title: "Manus",
    description:
      "A general agent: plans a task, uses tools (files, shell, Python, the web, planning, questions to the user) and hands over the result with the files it made.",
    version: "0.1.0",
    instructions: instructionsFor({ readsWeb, browses, delegates }),
    tools: [
      createPlanning(),
      ...deps.shell,
      createStrReplaceEditor(),
      seeImage,
      ...deps.web,
      ...browserTools,
      ...(deps.desktop ?? []),
      askHuman(),
      terminate,
    ],
    ...(look && { look: guided(look) }),
    ...(deps.limits && { limits: deps.limits }),
    skills: [
      {
        id: "general-task",
        name: "General task",
        description: "Takes a task in plain words, plans it, does it step by step and reports what was done and found.",
        tags: ["general", "planning"],
        examples: [
          "Compare these two contracts and list every difference that matters.",
          "Turn my notes into a one-page brief.",
        ],
      },
      {
        id: "write-files",
        name: "Write and edit files",
        description: "Creates and edits text files in the task's workspace and returns them as artifacts.",
        tags: ["files", "writing"],
        examples: ["Write report.md with a table of the results."],
      },
      ...(readsWeb ? [research] : []),
      ...(browses ? [browse] : []),
      ...(runsCode
        ? [
            {
              id: "run-code",
              name: "Run code",
              description: "Writes and runs shell commands and Python in a sandbox, on the files it was given.",
              tags: ["shell", "python", "data"],
              examples: [
                "Summarise sales.csv by region and check the totals.",
                "Find out why this script fails and mend it.",
              ],
            },
          ]
        : []),
    ],
  });
}

const browse = {
  id: "browse",
  name: "Operate web pages",
  description:
    "Opens pages in a browser, fills forms, downloads files; asks before it buys, sends, deletes or enters passwords.",
  tags: ["web", "browser"],
  examples: ["Look up the opening hours on their site and put them into a table."],
};

const research = {
  id: "web-research",
  name: "Research on the web",
  description: "Searches the web, reads pages and PDF documents, and reports what it found with the addresses.",
  tags: ["web", "search", "research"],
  examples: [
    "Which three databases have the best support for vector search, and what do they cost?",
    "Summarise this page and list its sources.",
  ],
};
