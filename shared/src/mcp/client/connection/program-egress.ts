import { chmod, chown, rm } from "node:fs/promises";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeAll } from "../../../core/async/close-all.ts";
import { covers, type EgressPolicy } from "../../../machine/egress/policy.ts";
import { startEgressProxy } from "../../../machine/egress/proxy.ts";
import { makeOwnedFolder } from "../../../machine/process/owned-folder.ts";
import type { Sandbox, SandboxProxy } from "../../../machine/sandbox/sandbox.ts";

/** What letting programs reach hosts needs. */
export type ProgramEgressDeps = {
  /** The policy for everything that leaves this machine. */
  readonly policy: EgressPolicy;
  readonly proxy: string | undefined;
  readonly log: { warn(fields: object, message: string): void };
  /** Called once for each refused destination, with the setting that would allow it. */
  refused(sentence: string): void;
};

/** A program's only network access, until it is closed. */
export type ProgramEgress = { readonly proxy: SandboxProxy; close(): Promise<void> };

/** Opens a proxy that lets one program reach these hosts, and logs what it was refused. */
export async function openProgramEgress(
  { name, network }: { readonly name: string; readonly network: readonly string[] },
  user: Sandbox["user"],
  { policy, proxy: upstream, log, refused: tell }: ProgramEgressDeps,
): Promise<ProgramEgress> {
  // A short path, as sockets require.
  const folder = await makeOwnedFolder(tmpdir(), "manyhands-out");
  const socket = join(folder, "proxy");
  const told = new Set<string>();
  const proxy = await startEgressProxy({
    socket,
    policy: policyOf(network, policy),
    ...(upstream !== undefined && { upstream: { server: upstream } }),
  });
  const { username, password } = proxy.admit(({ target, refused }) => {
    if (refused === undefined || told.size >= maxTold || told.has(refused)) return;
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
    proxy: { socket, username, password, ...(network.some((entry) => ofLoopback.test(entry)) && { loopback: true }) },
    close: () => closeAll(proxy.close, () => rm(folder, { recursive: true, force: true })),
  };
}

/** An entry that names this machine. */
const ofLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/i;

/** Keeps a program that asks for ever more hosts from filling the log. */
const maxTold = 20;

/** The setting that would allow the target. */
function settingFor(target: string, network: readonly string[], { deny }: EgressPolicy): string {
  const url = URL.parse(target.includes("://") ? target : `https://${target}`);
  if (url === null) return "";
  if (deny.some((entry) => covers(entry, url))) return "[egress] deny names it.";
  if (!network.includes("*") && !network.some((entry) => covers(entry, url)))
    return `"network" in its entry in mcp.json names what it reaches.`;
  return `[egress] allow = ["${url.hostname}"] lets it there, as for a mirror of one's own network.`;
}

/**
 * The policy for one program. The hosts in its entry replace those the tools may reach; hosts
 * denied to all stay denied. A private address is allowed if the entry names it literally, but not
 * through a name that resolves to it.
 */
function policyOf(network: readonly string[], { allow, deny }: EgressPolicy): EgressPolicy {
  const literal = network.filter((entry) => isIP(entry.replace(/:\d+$/, "").replace(/^\[|\]$/g, "")) !== 0);
  return { allow: [...allow, ...literal], deny, only: network.includes("*") ? [] : network };
}
