/** A faulty agent's answer to a JSON-RPC call; a plain value becomes the call's result. */
export type BadAnswer = (params: Wire, call: number) => Response | object | Promise<Response | object>;

// biome-ignore lint/suspicious/noExplicitAny: what comes over the wire is looked into without a schema
type Wire = any;

/** An agent that violates A2A as a test requires, over real HTTP; it records its calls. */
export type BadAgent = Disposable & {
  readonly url: string;
  readonly calls: readonly { readonly method: string; readonly params: Wire; readonly headers: Headers }[];
  count(method: string): number;
};

type CardFacts = {
  ours?: boolean;
  legacy?: boolean;
  also?: readonly string[];
  extensions?: readonly { readonly uri: string }[];
};

const ourExtensions = [{ uri: "urn:manyhands:agent:1" }, { uri: "urn:manyhands:journal:1" }];

/**
 * Starts one. `also` adds interfaces to its card. With `ours` its card claims our implementation,
 * so that its journal is followed; `extensions` replaces those it declares; with `legacy` it speaks
 * A2A 0.3. Answers by method; `GET` answers any other path.
 */
export function badAgentForTest(
  {
    ours = false,
    legacy = false,
    also = [],
    extensions = ours ? ourExtensions : [],
    get,
  }: CardFacts & { get?: (path: string) => Response },
  answers: Readonly<Record<string, BadAnswer>>,
): BadAgent {
  const calls: { method: string; params: Wire; headers: Headers }[] = [];
  const count = (method: string) => calls.filter((call) => call.method === method).length;
  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname.endsWith("agent-card.json"))
        return Response.json(legacy ? legacyCard(server.url.origin) : card(server.url.origin, ours, also, extensions));
      if (request.method !== "POST") return get?.(pathname) ?? new Response("no", { status: 404 });
      const { id, method, params } = (await request.json()) as Wire;
      calls.push({ method, params, headers: request.headers });
      const answer = await (answers[method] ?? noSuchMethod)(params, count(method));
      if (answer instanceof Response) return answer;
      if ("stream" in answer) return sse(id, answer.stream as readonly (object | string)[]);
      return Response.json({ jsonrpc: "2.0", id, ...("error" in answer ? answer : { result: answer }) });
    },
  });
  return { url: server.url.origin, calls, count, [Symbol.dispose]: () => void server.stop(true) };
}

/** A task in such an agent's format. */
export function badTask(state: string, more: object = {}) {
  return { id: "t1", contextId: "k1", status: { state: `TASK_STATE_${state}` }, ...more };
}

/** An artifact with one part. */
export function badArtifact(part: object, name = "answer") {
  return { artifactId: name, name, parts: [part] };
}

/** A streamed answer with these results; raw strings are sent unchanged. */
export function badStream(...stream: readonly (object | string)[]) {
  return { stream };
}

function sse(id: unknown, items: readonly (object | string)[]): Response {
  const frames = items.map((item) =>
    typeof item === "string" ? item : `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: item })}\n\n`,
  );
  return new Response(frames.join(""), { headers: { "Content-Type": "text/event-stream" } });
}

/** A status update of a stream, with its position in the journal. */
export function badUpdate(state: string, seq: number, taskId = "t1") {
  const status = { state: `TASK_STATE_${state}` };
  return { statusUpdate: { taskId, contextId: "k1", status, metadata: { "manyhands/seq": seq } } };
}

function noSuchMethod() {
  return { error: { code: -32601, message: "No such method" } };
}

function legacyCard(url: string) {
  const { name, description, version, skills } = card(url, false);
  const modes = { defaultInputModes: ["text"], defaultOutputModes: ["text"] };
  const about = { protocolVersion: "0.3.0", preferredTransport: "JSONRPC", capabilities: {}, ...modes };
  return { name, description, version, skills, url: `${url}/`, ...about };
}

function card(url: string, ours: boolean, also: readonly string[] = [], extensions: CardFacts["extensions"] = []) {
  return {
    name: "Bad\u001b[31m agent",
    description: "Another make.",
    version: "1",
    supportedInterfaces: [`${url}/`, ...also].map((one) => ({
      url: one,
      protocolBinding: "JSONRPC",
      protocolVersion: "1.0",
    })),
    capabilities: { streaming: ours, extensions },
    defaultInputModes: ["text"],
    defaultOutputModes: ["text"],
    skills: [],
  };
}
