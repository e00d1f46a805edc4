import { defineAgent } from "@manyhands/shared/agent/define-agent";
import type { AgentDefinition, Limits, Skill } from "@manyhands/shared/core/agent";
import type { Tool } from "@manyhands/shared/core/tool";
import type { OpenedBrowsing } from "@manyhands/shared/server/open-browsing";
import { createStrReplaceEditor } from "@manyhands/shared/tools/files/str-replace-editor";
import { askHuman } from "@manyhands/shared/tools/human/ask-human";
import { terminate } from "@manyhands/shared/tools/human/terminate";
import { createPlanning } from "@manyhands/shared/tools/planning/planning";
import { instructions } from "./prompt.ts";

/** What the agent is given: the browser's tools and its sight, or why there are none, and the tools that read the web. */
export type BrowserAgentDeps = {
  readonly browsing: OpenedBrowsing;
  readonly web: readonly Tool[];
  readonly limits?: Partial<Limits>;
};

/** Browser, the agent that operates web pages. Where there is no browser its card and its prompt say so. */
export function browser({ browsing, web, limits }: BrowserAgentDeps): AgentDefinition {
  const { tools, look, missing } = browsing;
  const browses = missing === undefined;
  const readsWeb = web.length > 0;
  return defineAgent({
    name: "browser",
    title: "Browser",
    description: browses
      ? "Operates web pages in a browser of its own: opens and reads them, fills forms with the data it is given, uploads and downloads files, and reports what it found and did."
      : `Cannot operate web pages now: ${missing}${readsWeb ? " It reads the web without a browser." : ""}`,
    version: "0.1.0",
    instructions: instructions({ browses, readsWeb }),
    tools: [createPlanning(), ...tools, ...web, createStrReplaceEditor(), askHuman(), terminate],
    ...(look && { look }),
    limits: { steps: 80, ...limits },
    skills: [...(browses ? [operate, extract] : []), ...(readsWeb ? [research] : [])],
  });
}

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
