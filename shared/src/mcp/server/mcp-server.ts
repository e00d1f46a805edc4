import { McpServer, ResourceNotFoundError, type Server, type ServerContext } from "@modelcontextprotocol/server";
import { inProtocolWords, invalidParams } from "./invalid-params.ts";
import type { Era } from "./questions.ts";
import { givenWith } from "./questions.ts";
import { runResources } from "./resources.ts";
import { listTools, serveTools } from "./serve-tools.ts";
import { type McpServerDeps, promptsOf, type Serving } from "./serving.ts";

/** A run may ask often in one call. */
const mostQuestions = 100;

/**
 * A server for one caller: every runnable as a tool and as a prompt, the tools that are called as
 * they are, those that look after runs, and the runs and their files as resources. A question
 * reaches the person where the client can ask one, and is otherwise a result that says how to
 * answer.
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

/** Answers what there is to read. */
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

/** Tells of changes over a connection that lasts, as in the revisions of 2025. */
function serveSubscriptions(server: Server, { resources, principal, deps }: Serving): void {
  const watched = new Map<string, AbortController>();
  const forget = (uri: string) => {
    watched.get(uri)?.abort();
    watched.delete(uri);
  };
  const tell = async (uri: string, changes: AsyncIterable<unknown>, { signal }: AbortController) => {
    for await (const _ of changes) if (!signal.aborted) await server.sendResourceUpdated({ uri });
  };
  server.onclose = () => {
    for (const uri of [...watched.keys()]) forget(uri);
  };
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }, context) => {
    if (!lasts(context)) throw invalidParams("Changes are told in a session only, which initialize begins.");
    const stop = new AbortController();
    const changes = await inProtocolWords(() => resources.watch(uri, principal, stop.signal), deps.report);
    if (changes === undefined) throw new ResourceNotFoundError(uri);
    forget(uri);
    watched.set(uri, stop);
    tell(uri, changes, stop).catch((error: unknown) => stop.signal.aborted || deps.report(error));
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    forget(uri);
    return {};
  });
}

/** Over HTTP only a session does. */
function lasts({ http, sessionId }: ServerContext): boolean {
  return http === undefined || sessionId !== undefined;
}

/** Answers what prompts there are, with what they say. */
function servePrompts(server: Server, { prompts, deps }: Serving): void {
  server.setRequestHandler("prompts/list", () => ({ prompts: prompts.list() }));
  server.setRequestHandler("prompts/get", ({ params: { name, arguments: args = {} } }, context) =>
    inProtocolWords(async () => prompts.get(name, args, givenWith(context)), deps.report),
  );
}

/** As many as the protocol lets a client be told. */
const most = 100;

/** Answers what an argument of a prompt, or a variable of a resource's address, may be. */
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
