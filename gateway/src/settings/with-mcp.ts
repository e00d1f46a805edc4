import { join } from "node:path";
import type { Config } from "manyhands/internal/config/config";
import { type OpenedMcp, openMcp } from "manyhands/internal/server/protocols/open-mcp";
import type { Shared } from "manyhands/internal/server/storage/open-shared";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * What using the MCP servers outside a task needs; `warn` gets what is wrong with one, for people.
 */
export type WithMcpDeps = {
  readonly env: Env;
  readonly shared: Pick<Shared, "pins" | "credentials">;
  readonly warn: (message: string) => void;
};

/** The settings that say which MCP servers there are and how their programs are confined. */
export type McpPlaces = Pick<Config, "home" | "file" | "mcp" | "egress" | "sandbox">;

/** Lets `work` use the MCP servers as an agent would, and stops what it started. */
export async function withMcp<Result>(
  config: McpPlaces,
  { env, shared, warn }: WithMcpDeps,
  work: (mcp: OpenedMcp) => Promise<Result>,
): Promise<Result> {
  const { tier, allowDomains } = config.sandbox;
  const folder = join(config.home, "mcp");
  const { createSandbox } = await import("manyhands/internal/machine/confinement/create-sandbox");
  const sandbox = await createSandbox({ mode: tier, folder, network: { allow: allowDomains } });
  try {
    const logger = { info: () => undefined, warn: (_: unknown, message?: string) => warn(message ?? "") };
    const mcp = await openMcp(config, { sandbox, logger, shared, env });
    try {
      return await work(mcp);
    } finally {
      await mcp.close();
    }
  } finally {
    await sandbox.close();
  }
}

/**
 * The environment as if every variable were set: agents may start with variables that this process
 * lacks.
 */
export function everyVariable(env: Env): Env {
  return new Proxy(env, {
    get: (target, name) => (typeof name === "string" ? (target[name] ?? "https://variable.invalid") : undefined),
  });
}
