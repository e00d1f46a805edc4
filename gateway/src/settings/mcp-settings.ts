import type { Config } from "manyhands/internal/config/config";
import { withoutLogins } from "manyhands/internal/config/settings/redact";
import { AppError } from "manyhands/internal/core/errors";
import { sha256Of } from "manyhands/internal/core/text/sha256";
import { editServers } from "manyhands/internal/mcp/client/servers/edit-servers";
import { readServers } from "manyhands/internal/mcp/client/servers/read-servers";
import { isProgram, type ServerConfig } from "manyhands/internal/mcp/client/servers/server-config";
import type { OpenedMcp } from "manyhands/internal/server/protocols/open-mcp";
import { everyVariable, type McpPlaces, type WithMcpDeps, withMcp } from "./with-mcp.ts";

/** An entry of `mcp.json` for people: no headers, no variables' values. */
export type ListedServer = {
  readonly name: string;
  readonly kind: "program" | "http" | "sse";
  /** Its command or URL. */
  readonly command: string;
  readonly enabled: boolean;
  /** Whether its program is confined; only of programs. */
  readonly sandboxed?: boolean;
  /** The agents of the settings that have its tools. */
  readonly agents: readonly string[];
  /** The last sign-in begun here. */
  readonly signIn?: { readonly state: "waiting" | "done" | "failed"; readonly error?: string };
};

/** What a server offered when it was asked. */
export type InspectedServer = {
  readonly state: "ready" | "sign-in-needed" | "failed";
  readonly protocol?: string;
  readonly milliseconds: number;
  readonly tools: readonly InspectedTool[];
  /** Tools left out because their definition is invalid, each with what is wrong. */
  readonly invalid: readonly string[];
  /** Stands for exactly these definitions, to approve them. */
  readonly seen?: string;
  readonly error?: string;
};

type InspectedTool = {
  readonly name: string;
  readonly description: string;
  /** Its definition is not the approved one, so agents cannot call it. */
  readonly changed: boolean;
  /** Its JSON Schema, if it has to be approved. */
  readonly input?: object;
};

/** The MCP servers of the settings: list, change, try. */
export interface McpSettings {
  list(): Promise<readonly ListedServer[]>;
  /**
   * Adds an entry as in `mcp.json`. Rejects with `conflict` for a name that is taken, with
   * `forbidden` for an entry that gets at files or variables of this machine, with
   * `config_invalid` for one agents would refuse.
   */
  add(name: string, entry: Readonly<Record<string, unknown>>): Promise<void>;
  /** Rejects with `not_found`. */
  remove(name: string): Promise<void>;
  enable(name: string, enabled: boolean): Promise<void>;
  /** Connects as an agent does; a failure is part of the result. */
  inspect(name: string, signal: AbortSignal): Promise<InspectedServer>;
  /**
   * Approves what `inspect` showed. Rejects with `conflict` if the server offers something else
   * now.
   */
  approve(name: string, seen: string, signal: AbortSignal): Promise<number>;
  /** Begins to sign a principal in and resolves with the address to open in a browser. */
  signIn(name: string, principal: string): Promise<string>;
  /** Gives up sign-ins that nobody has finished. */
  close(): Promise<void>;
}

/**
 * The servers in the `mcp.json` of these settings; `use` opens them, `patienceMs` bounds each look.
 */
export function mcpSettings(
  config: McpPlaces & Pick<Config, "agents">,
  deps: WithMcpDeps,
  { use = withMcp, patienceMs = 60_000 } = {},
): McpSettings {
  const { mcp: place, agents } = config;
  const env = everyVariable(deps.env);
  const signIns = createSignIns((work) => use(config, deps, work));
  const edit = (name: string, change: (entry: object) => object | undefined) =>
    editServers(place.file, env, ({ [name]: entry, ...rest }) => {
      if (entry === undefined) throw unknown(name);
      const next = change(entry as object);
      return next === undefined ? rest : { ...rest, [name]: next };
    });
  const inspected = async (mcp: OpenedMcp, name: string, signal: AbortSignal) => {
    const server = await mcp.open(name);
    const { definitions, changed } = await server.inspect(signal);
    const { version: protocol, invalid = [] } = server.health();
    return { definitions, changed, protocol, invalid, seen: sha256Of(JSON.stringify(definitions)) };
  };
  /** Rejects with `timeout` when patience ends first. */
  const patiently = async <Result>(signal: AbortSignal, work: (until: AbortSignal) => Promise<Result>) => {
    const until = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
    try {
      return await work(until);
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof AppError || !until.aborted) throw cause;
      throw new AppError("timeout", `It did not answer within ${patienceMs / 1000} seconds.`, { cause });
    }
  };
  return {
    async list() {
      const servers = await readServers(place.file, false, env);
      return servers.map((server) => ({
        ...listed(server),
        agents: Object.entries(agents).flatMap(([agent, { mcp }]) =>
          mcp === "all" || mcp.includes(server.name) ? [agent] : [],
        ),
        ...signIns.stateOf(server.name),
      }));
    },
    async add(name, entry) {
      refuseReach(entry);
      await editServers(place.file, env, (servers) => {
        if (Object.hasOwn(servers, name))
          throw new AppError("conflict", `There is an MCP server ${JSON.stringify(name)} already. Remove it first.`);
        return { ...servers, [name]: entry };
      });
    },
    remove: (name) => edit(name, () => undefined),
    enable: (name, enabled) => edit(name, (entry) => ({ ...entry, disabled: !enabled })),
    async inspect(name, signal) {
      const startedAt = performance.now();
      const took = () => Math.round(performance.now() - startedAt);
      return use(config, deps, async (mcp) => {
        try {
          const { definitions, changed, protocol, invalid, seen } = await patiently(signal, (until) =>
            inspected(mcp, name, until),
          );
          const tools = definitions.map(({ name: tool, description = "", inputSchema }) => {
            const isChanged = changed.has(tool);
            return { name: tool, description, changed: isChanged, ...(isChanged && { input: inputSchema }) };
          });
          const version = protocol === undefined ? {} : { protocol };
          return { state: "ready", ...version, milliseconds: took(), tools, invalid, seen } as const;
        } catch (error) {
          if (!(error instanceof AppError) || error.code === "not_found") throw error;
          const state = error.code === "unauthorized" ? "sign-in-needed" : "failed";
          return { state, milliseconds: took(), tools: [], invalid: [], error: error.message } as const;
        }
      });
    },
    approve: (name, seen, signal) =>
      use(config, deps, async (mcp) => {
        const now = await patiently(signal, (until) => inspected(mcp, name, until));
        if (now.seen === seen) return patiently(signal, (until) => mcp.approve(name, until));
        throw new AppError("conflict", `${name} offers other tools than those you saw. Look again, then approve.`);
      }),
    signIn: signIns.begin,
    close: signIns.close,
  };
}

/** Keys that let a program see files of this machine. */
const reaching = ["read", "write", "cwd"];

/**
 * An entry that came by request gets at nothing of this machine: it names no files, no variables of
 * the servers, and its program is confined. Whoever wants that can write mcp.json.
 */
function refuseReach(entry: Readonly<Record<string, unknown>>): void {
  const isConfined = entry.trust === undefined || entry.trust === "sandboxed";
  const named = reaching.find((key) => Object.hasOwn(entry, key));
  const hasVariable = JSON.stringify(entry).includes("${");
  if (isConfined && named === undefined && !hasVariable) return;
  const what = !isConfined ? "`trust`" : named === undefined ? "a variable of the servers" : `\`${named}\``;
  throw new AppError(
    "forbidden",
    `${what} cannot be set from here, since it opens this machine to the server: write the entry into mcp.json, or use \`mcp add\`.`,
  );
}

function listed(server: ServerConfig) {
  const { name, shown, disabled } = server;
  const common = { name, command: withoutLogins(shown), enabled: !disabled };
  if (isProgram(server)) return { ...common, kind: "program" as const, sandboxed: server.trust === "sandboxed" };
  return { ...common, kind: server.type === "sse" ? ("sse" as const) : ("http" as const) };
}

function unknown(name: string): AppError {
  return new AppError("not_found", `There is no MCP server ${JSON.stringify(name)}.`);
}

/** Sign-ins, which go on in the background until the browser is back. */
function createSignIns(open: (work: (mcp: OpenedMcp) => Promise<void>) => Promise<void>) {
  type State = NonNullable<ListedServer["signIn"]>;
  const states = new Map<string, State>();
  const begun = new Map<string, { readonly gone: AbortController; readonly ended: Promise<void> }>();
  const leave = async (name: string, why?: AppError) => {
    begun.get(name)?.gone.abort(why);
    await begun.get(name)?.ended;
  };
  const run = async (name: string, principal: string, show: (address: string) => void, gone: AbortSignal) => {
    gone.throwIfAborted();
    states.set(name, { state: "waiting" });
    await open((mcp) => mcp.login(name, show, gone, principal));
  };
  return {
    stateOf(name: string): { readonly signIn?: State } {
      const state = states.get(name);
      return state === undefined ? {} : { signIn: state };
    },
    async begin(name: string, principal: string): Promise<string> {
      const left = leave(name, new AppError("conflict", `Another sign-in to ${name} was begun after this one.`));
      const gone = new AbortController();
      const address = Promise.withResolvers<string>();
      // In its place at once: one begun while the former is being left has this one to leave.
      const signingIn = left.then(() => run(name, principal, address.resolve, gone.signal));
      const ended = signingIn.then(
        () => {
          states.set(name, { state: "done" });
          // A server that knows the principal already sends nobody anywhere.
          address.reject(new AppError("conflict", `You are signed in to ${name} already.`));
        },
        (error: unknown) => {
          const known = error instanceof AppError ? error.message : "signing in was given up.";
          states.set(name, { state: "failed", error: known });
          address.reject(error);
        },
      );
      begun.set(name, { gone, ended });
      address.promise.catch(() => undefined);
      return address.promise;
    },
    async close() {
      await Promise.all([...begun.keys()].map((name) => leave(name)));
    },
  };
}
