import { McpServer, ResourceNotFoundError, type Server, type ServerContext } from "@modelcontextprotocol/server";
import { inProtocolWords, invalidParams } from "./invalid-params.ts";
import type { Era } from "./questions.ts";
import { givenWith } from "./questions.ts";
import { runResources } from "./resources.ts";
import { listTools, serveTools } from "./serve-tools.ts";
import { type McpServerDeps, promptsOf, type Serving } from "./serving.ts";

/** Most questions in one call: a run may ask often. */
const maxQuestions = 100;

/**
 * A server for one caller. It serves every runnable as a tool and as a prompt, the tools that are
 * called directly, the tools that manage runs, and the runs and their files as resources. A
 * question reaches the person if the client can ask one; otherwise the result says how to answer.
 */
export function mcpServer(deps: McpServerDeps, era: Era, principal: string): McpServer {
  // Older clients are notified of a run's changes over their connection; newer ones read the run.
  const resources = { listChanged: false, ...(era === "legacy" && { subscribe: true }) };
  const list = { listChanged: deps.listChanged ?? false };
  const made = new McpServer(
    { name: "manyhands", title: "Manyhands", version: deps.version },
    {
      capabilities: { tools: list, resources, prompts: list, completions: {}, logging: {} },
      instructions,
      inputRequired: { maxRounds: maxQuestions },
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
  // Used to check the headers in which a tool's schema wants arguments repeated.
  made.toolInputSchemaJson = (name) => listTools(deps).find((tool) => tool.name === name)?.inputSchema;
  return made;
}

const instructions =
  "A tool that takes a task starts a run, of an agent or of several as a flow. A run survives this connection; run_status shows it, run_answer answers its question, run_cancel ends it. The runs and their files are resources.";

/** Handles the methods for resources. */
function serveResources(server: Server, serving: Serving): void {
  const { resources, principal, era, deps } = serving;
  server.setRequestHandler("resources/list", ({ params }) =>
    inProtocolWords(() => resources.list(principal, params?.cursor), deps.report),
  );
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: resources.templates() }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
    const contents = await inProtocolWords(() => resources.read(uri, principal), deps.report);
    if (contents === undefined) throw new ResourceNotFoundError(uri);
    return { contents };
  });
  if (era === "legacy") serveSubscriptions(server, serving);
}

/** Sends changes over a lasting connection, as in the revisions of 2025. */
function serveSubscriptions(server: Server, { resources, principal, deps }: Serving): void {
  const watched = new Map<string, AbortController>();
  let hasLeft = false;
  const forget = (uri: string) => {
    watched.get(uri)?.abort();
    watched.delete(uri);
  };
  const tell = async (uri: string, changes: AsyncIterable<unknown>, { signal }: AbortController) => {
    for await (const _ of changes) if (!signal.aborted) await server.sendResourceUpdated({ uri });
  };
  server.onclose = () => {
    hasLeft = true;
    for (const uri of [...watched.keys()]) forget(uri);
  };
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }, context) => {
    if (!lasts(context)) throw invalidParams("Changes are told in a session only, which initialize begins.");
    const stop = new AbortController();
    const changes = await inProtocolWords(() => resources.watch(uri, principal, stop.signal), deps.report);
    if (changes === undefined) throw new ResourceNotFoundError(uri);
    forget(uri);
    if (hasLeft) stop.abort();
    else watched.set(uri, stop);
    tell(uri, changes, stop).catch((error: unknown) => stop.signal.aborted || deps.report(error));
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    forget(uri);
    return {};
  });
}

/** Whether the connection lasts: over HTTP only a session does. */
function lasts({ http, sessionId }: ServerContext): boolean {
  return http === undefined || sessionId !== undefined;
}

/** Handles the methods for prompts. */
function servePrompts(server: Server, { prompts, deps }: Serving): void {
  server.setRequestHandler("prompts/list", () => ({ prompts: prompts.list() }));
  server.setRequestHandler("prompts/get", ({ params: { name, arguments: args = {} } }, context) =>
    inProtocolWords(async () => prompts.get(name, args, givenWith(context)), deps.report),
  );
}

/** Most values that the protocol allows in a completion. */
const most = 100;

/** Completes an argument of a prompt or a variable of a resource's URI. */
function serveCompletion(server: Server, { prompts, resources, principal, deps }: Serving): void {
  server.setRequestHandler("completion/complete", async ({ params: { ref, argument } }) => {
    const { name, value } = argument;
    const all = await inProtocolWords(
      async () =>
        ref.type === "ref/prompt"
          ? prompts.complete(ref.name, name, value)
          : resources.complete(ref.uri, name, value, principal),
      deps.report,
    );
    return { completion: { values: all.slice(0, most), total: all.length, hasMore: all.length > most } };
  });
}
