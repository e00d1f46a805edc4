import type { Tool } from "../../core/tools/tool.ts";
import type { Browsers } from "../../machine/browser/browser.ts";
import { createEgress } from "../../machine/egress/egress.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";
import { webSearchTool } from "../../tools/browser/act/web-search.ts";
import { cloneRepositoryTool } from "../../tools/code/clone-repository.ts";
import { noGitHosts } from "../../tools/code/git-host.ts";
import { createSnapshotStates } from "../../tools/observation/elements/snapshot-state.ts";
import { createRobots } from "../../tools/page/robots.ts";
import { webFetch } from "../../tools/web/web-fetch.ts";
import { webSearch } from "../../tools/web/web-search.ts";

/**
 * The tools whose input determines what they reach on the web, with their complete definitions;
 * their calls reach nothing and return `text`. For tests.
 */
export function webToolsForTest(text: () => string = () => ""): readonly Tool[] {
  const egress = createEgress({ allow: [], deny: [], only: [] });
  const page = { egress, robots: createRobots(egress) };
  // Never used: none of their calls are made.
  const [browsers, sandbox] = [{} as Browsers, {} as Sandbox];
  const tools = [
    webSearch({ ...page, engines: [], lang: "en", country: "us" }),
    webFetch(page),
    webSearchTool({ browsers, looks: createSnapshotStates() }, async () => []),
    cloneRepositoryTool({ egress, sandbox, hosts: noGitHosts }),
  ];
  return tools.map((tool) => ({ ...tool, call: async () => ({ text: text(), isError: false }) }));
}
