import { ResourceNotFoundError, type Server, type ServerContext } from "@modelcontextprotocol/server";
import { inProtocolWords, invalidParams } from "./invalid-params.ts";
import type { Serving } from "./serving.ts";

/** Answers what there is to read. */
export function serveResources(server: Server, serving: Serving): void {
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
