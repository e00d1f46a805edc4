import { chmod, chown, rm } from "node:fs/promises";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { covers, type EgressPolicy } from "../../../machine/egress/policy.ts";
import { startEgressProxy } from "../../../machine/egress/proxy.ts";
import { makeOwnedFolder } from "../../../machine/process/owned-folder.ts";
import type { Sandbox, SandboxProxy } from "../../../machine/sandbox/sandbox.ts";

/** What programs are let out by. */
export type ProgramEgressDeps = {
  /** What holds for all that leaves this machine. */
  readonly policy: EgressPolicy;
  readonly proxy: string | undefined;
  readonly log: { warn(fields: object, message: string): void };
  /** Told once of each thing a program was kept from, and of the setting that would allow it. */
  refused(sentence: string): void;
};

/** The one way out of a server's program, until it is closed. */
export type ProgramEgress = { readonly proxy: SandboxProxy; close(): Promise<void> };

/**
 * Opens a proxy for one program that lets out to these hosts, and says in the log what it asked for
 * beyond that.
 */
export async function openProgramEgress(
  { name, network }: { readonly name: string; readonly network: readonly string[] },
  user: Sandbox["user"],
  { policy, proxy: upstream, log, refused: tell }: ProgramEgressDeps,
): Promise<ProgramEgress> {
  // Short, as the path of a socket has to be.
  const folder = await makeOwnedFolder(tmpdir(), "manyhands-out");
  const socket = join(folder, "proxy");
  const told = new Set<string>();
  const proxy = await startEgressProxy({
    socket,
    policy: policyOf(network, policy),
    ...(upstream !== undefined && { upstream: { server: upstream } }),
  });
  const { username, password } = proxy.admit(({ target, refused }) => {
    if (refused === undefined || told.size >= mostTold || told.has(refused)) return;
    told.add(refused);
    const setting = settingFor(target, network, policy);
    log.warn(
      { server: name, target: target.slice(0, 200), refused, setting },
      "an MCP server was kept from the network",
    );
    tell(`It was kept from the network: ${refused} ${setting}`);
  });
  await chmod(socket, 0o600);
  if (user !== undefined) await chown(socket, user.uid, user.gid);
  return {
    proxy: { socket, username, password },
    async close() {
      await proxy.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A program that asks for ever more hosts does not fill the log. */
const mostTold = 20;

/** What would let a program there. */
function settingFor(target: string, network: readonly string[], { deny }: EgressPolicy): string {
  const url = URL.parse(target.includes("://") ? target : `https://${target}`);
  if (url === null) return "";
  if (deny.some((entry) => covers(entry, url))) return "[egress] deny names it.";
  if (!network.includes("*") && !network.some((entry) => covers(entry, url)))
    return `"network" in its entry in mcp.json names what it reaches.`;
  return `[egress] allow = ["${url.hostname}"] lets it there, as for a mirror of one's own network.`;
}

/**
 * What the entry names in place of what the tools may reach; what is denied to all stays denied. An
 * address that is not public counts as meant when it is written as one; a name that leads to one
 * does not.
 */
function policyOf(network: readonly string[], { allow, deny }: EgressPolicy): EgressPolicy {
  const literal = network.filter((entry) => isIP(entry.replace(/:\d+$/, "").replace(/^\[|\]$/g, "")) !== 0);
  return { allow: [...allow, ...literal], deny, only: network.includes("*") ? [] : network };
}
