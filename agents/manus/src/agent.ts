import { type AgentSource, defineAgent, type Skill } from "manyhands";
import {
  archives,
  askHuman,
  browser,
  desktop,
  documents,
  editor,
  guided,
  images,
  planning,
  python,
  shell,
  terminate,
  web,
} from "manyhands/tools";
import { instructionsFor } from "./prompt.ts";

/** Manus, the general agent; it promises what the machine offers. */
export const manus = ((offers) => {
  const { plans, runsCode, readsWeb } = offers;
  const browses = offers.browserMissing === undefined;
  return defineAgent({
    name: "manus",
    title: "Manus",
    description:
      "A general agent: plans a task, uses tools (files, shell, Python, the web, planning, questions to the user) and hands over the result with the files it made.",
    instructions: instructionsFor({ plans, readsWeb, browses, delegates: offers.delegates.length > 0 }),
    tools: [
      planning(),
      shell(),
      python(),
      editor(),
      images(),
      documents(),
      archives(),
      web(),
      browser({ observe: guided }),
      desktop(),
      askHuman(),
      terminate,
    ],
    skills: [
      generalTask,
      writeFiles,
      writeDocuments({ printsPdf: browses, makesSlides: offers.pythonLibraries?.includes("pptx") === true }),
      ...(readsWeb ? [research] : []),
      ...(browses ? [browse] : []),
      ...(runsCode ? [runCode] : []),
    ],
  });
}) satisfies AgentSource;

const generalTask: Skill = {
  id: "general-task",
  name: "General task",
  description: "Takes a task in plain words, plans it, does it step by step and reports what was done and found.",
  tags: ["general", "planning"],
  examples: [
    "Compare these two contracts and list every difference that matters.",
    "Turn my notes into a one-page brief.",
  ],
};

const writeFiles: Skill = {
  id: "write-files",
  name: "Write and edit files",
  description: "Creates and edits text files in the task's workspace and returns them as artifacts.",
  tags: ["files", "writing"],
  examples: ["Write report.md with a table of the results."],
};

/** Documents for people; without a browser there is nothing that prints a PDF. */
const writeDocuments = (can: { readonly printsPdf: boolean; readonly makesSlides: boolean }): Skill => ({
  id: "write-documents",
  name: "Read and write documents",
  description: `Reads documents of all kinds and writes ${can.printsPdf ? "PDF, " : ""}Word, HTML${can.makesSlides ? ", slides" : ""} and Excel with charts.`,
  tags: [...(can.printsPdf ? ["pdf"] : []), "docx", ...(can.makesSlides ? ["slides", "pptx"] : []), "xlsx", "html"],
  examples: ["Turn notes.md into a two-page briefing.pdf."],
});

const browse: Skill = {
  id: "browse",
  name: "Operate web pages",
  description:
    "Opens pages in a browser, fills forms, downloads files; asks before it buys, sends, deletes or enters passwords.",
  tags: ["web", "browser"],
  examples: ["Look up the opening hours on their site and put them into a table."],
};

const research: Skill = {
  id: "web-research",
  name: "Research on the web",
  description: "Searches the web, reads pages and PDF documents, and reports what it found with the addresses.",
  tags: ["web", "search", "research"],
  examples: [
    "Which three databases have the best support for vector search, and what do they cost?",
    "Summarise this page and list its sources.",
  ],
};

const runCode: Skill = {
  id: "run-code",
  name: "Run code",
  description: "Writes and runs shell commands and Python in a sandbox, on the files it was given.",
  tags: ["shell", "python", "data"],
  examples: ["Summarise sales.csv by region and check the totals.", "Find out why this script fails and fix it."],
};
