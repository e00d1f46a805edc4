import { type AgentSource, defineAgent, type Skill } from "manyhands";
import {
  archives,
  askHuman,
  browser as browserTools,
  documents,
  editor,
  planning,
  tables,
  terminate,
  web,
} from "manyhands/tools";
import { instructionsFor } from "./prompt.ts";

/**
 * Browser, the agent that operates web pages. Without a browser, its card and its prompt say so.
 */
export const browser = (({ plans, browserMissing: missing, readsWeb }) => {
  const browses = missing === undefined;
  return defineAgent({
    name: "browser",
    title: "Browser",
    description: browses
      ? "Operates web pages in a browser of its own: opens and reads them, fills forms with the data it is given, uploads and downloads files, and reports what it found and did."
      : `Cannot operate web pages now: ${missing}${readsWeb ? " It reads the web without a browser." : ""}`,
    instructions: instructionsFor({ plans, browses, readsWeb }),
    tools: [
      planning(),
      browserTools({ atOnce: true }),
      web(),
      editor(),
      documents(),
      archives(),
      tables(),
      askHuman(),
      terminate,
    ],
    limits: { steps: 80 },
    skills: [...(browses ? [operate, extract] : []), ...(readsWeb ? [research] : [])],
  });
}) satisfies AgentSource;

const operate: Skill = {
  id: "operate-pages",
  name: "Operate web pages",
  description:
    "Works through web sites as a person would: forms over several pages, menus, tabs, dialogs, uploads and downloads. Asks before it buys, sends, deletes or enters passwords.",
  tags: ["browser", "forms", "automation"],
  examples: ["Fill in the registration form at https://shop.example with the attached details."],
};

const extract: Skill = {
  id: "extract-content",
  name: "Extract from pages",
  description:
    "Collects facts, lists and tables from whole pages, also those made by scripts, and saves them as files.",
  tags: ["browser", "extraction", "data"],
  examples: ["List all open positions on this page with place and salary as CSV."],
};

const research: Skill = {
  id: "web-research",
  name: "Read the web",
  description: "Searches the web, reads pages and PDF documents, and reports what they say with their addresses.",
  tags: ["web", "search"],
  examples: ["What does this page say about refunds?"],
};
