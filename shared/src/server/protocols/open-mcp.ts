import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Logger } from "pino";
import type { AgentConfig } from "../../config/agents/agent-config.ts";
import type { Config } from "../../config/config.ts";
import { closeAll } from "../../core/async/close-all.ts";
import { lazily } from "../../core/async/lazy.ts";
import { localCaller } from "../../core/caller.ts";
import { AppError } from "../../core/errors.ts";
import { createEgress } from "../../machine/egress/egress.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";
import { createMcpHost, type McpHost } from "../../mcp/client/create-host.ts";
import { createCredentialStore } from "../../mcp/client/oauth/credential-store.ts";
import { isProgram } from "../../mcp/client/servers/server-config.ts";
import type { Shared } from "../storage/open-shared.ts";

type OpenMcpDeps = {
  readonly sandbox: Sandbox;
  readonly logger: Pick<Logger, "info" | "warn">;
  readonly shared: Pick<Shared, "pins" | "credentials">;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/**
 * The MCP servers, and how to sign a principal in to one; `show` receives the address to open in a
 * browser.
 */
export type OpenedMcp = McpHost & {
  login(name: string, show: (address: string) => void, signal: AbortSignal, principal?: string): Promise<void>;
};

/**
 * The MCP servers of `mcp.json`, each connected when it is first needed. The caller closes the
 * sandbox. Rejects with `config_invalid` for a wrong file.
 */
export async function openMcp(
  { home, file, mcp, egress: { proxy, ...policy } }: Pick<Config, "home" | "file" | "mcp" | "egress">,
  { sandbox, logger, shared, env }: OpenMcpDeps,
): Promise<OpenedMcp> {
  const egress = createEgress(policy, { proxy });
  const identity = (principal: string) => ({
    principal,
    store: createCredentialStore(shared.credentials, principal),
    egress,
    proxy,
  });
  const folder = join(home, "mcp");
  const unconfined = lazily(async () => {
    const { createSandbox } = await import("../../machine/confinement/create-sandbox.ts");
    return createSandbox({ mode: "off", folder });
  });
  const host = await createMcpHost({
    ...mcp,
    env,
    home,
    pinned: shared.pins,
    folder,
    kept: { home, others: [homedir(), mcp.file, ...(file === undefined ? [] : [resolve(file)])] },
    sandbox,
    unconfined: unconfined.get,
    egress,
    policy,
    proxy,
    log: {
      info: (fields, message) => logger.info(fields, message),
      warn: (fields, message) => logger.warn(fields, message),
    },
    signIns(principal) {
      const own = identity(principal);
      const load = () => import("../../mcp/client/oauth/sign-in.ts");
      return {
        authorize: async (server) => (await load()).authorizeBy(server, own),
        widenScope: async (server, scope) => (await load()).widenScope(server, scope, own.store),
      };
    },
  });
  return {
    ...host,
    async login(name, show, signal, principal = localCaller.principal) {
      const { server } = await host.open(name);
      if (isProgram(server))
        throw new AppError("invalid_input", `${name} is a program: there is nothing to sign in to.`);
      const { signIn } = await import("../../mcp/client/oauth/sign-in.ts");
      await signIn(server, identity(principal), show, signal);
    },
    close: () => closeAll(host.close, async () => (await unconfined.made())?.close()),
  };
}

/** Throws `config_invalid` if an agent's settings name a server that does not exist. */
export async function checkServers(agent: string, wanted: AgentConfig["mcp"], host: McpHost): Promise<void> {
  if (wanted === "all") return;
  const names = (await host.servers()).map(({ name }) => name);
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new AppError(
    "config_invalid",
    `[agents.${agent}] mcp names ${JSON.stringify(unknown)}, but the enabled servers are: ${names.join(", ") || "none"}.`,
  );
}
