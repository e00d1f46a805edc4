import { McpServer } from "@modelcontextprotocol/server";
import type { Era } from "./era.ts";
import { runResources } from "./resources.ts";
import { serveCompletion } from "./serve-completion.ts";
import { servePrompts } from "./serve-prompts.ts";
import { serveResources } from "./serve-resources.ts";
import { listTools, serveTools } from "./serve-tools.ts";
import { type McpServerDeps, promptsOf } from "./serving.ts";

/** A run may ask often in one call. */
const mostQuestions = 100;

/**
 * A server for one caller: every runnable as a tool and as a prompt, the tools that are called as they are, those that look after runs, and the
 * runs and their files as resources. A question reaches the person where the client can ask one, and is otherwise a result that says how to answer.
 */
export function mcpServer(deps: McpServerDeps, era: Era, principal: string): McpServer {
  // Of a change to a run an older client hears over its connection; a newer one looks at the run.
  const resources = { listChanged: false, ...(era === "legacy" && { subscribe: true }) };
  const list = { listChanged: deps.listChanged ?? false };
  const made = new McpServer(
    { name: "manyhands", title: "Manyhands", version: deps.version },
    {
      capabilities: { tools: list, resources, prompts: list, completions: {}, logging: {} },
      instructions,
      inputRequired: { maxRounds: mostQuestions },
    },
  );
  const serving = {
    deps,
    era,
    principal,
    resources: deps.resources ?? runResources(deps),
    prompts: promptsOf(deps),
  };
  serveTools(made.server, serving);
  serveResources(made.server, serving);
  servePrompts(made.server, serving);
  serveCompletion(made.server, serving);
  // By it the headers are checked that a tool's schema wants its arguments repeated in.
  made.toolInputSchemaJson = (name) => listTools(deps).find((tool) => tool.name === name)?.inputSchema;
  return made;
}

const instructions =
  "A tool that takes a task starts a run, of an agent or of several as a flow. A run survives this connection; run_status shows it, run_answer answers its question, run_cancel ends it. The runs and their files are resources.";
