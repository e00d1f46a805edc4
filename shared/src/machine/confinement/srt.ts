import { chownSync } from "node:fs";
import { access, constants, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeAll } from "../../core/async/close-all.ts";
import { AppError } from "../../core/errors.ts";
import { findProgram } from "../process/find-program.ts";
import { makeOwnedFolder } from "../process/owned-folder.ts";
import { unprivilegedUser } from "../process/step-down.ts";
import type { SandboxProfile } from "../sandbox/sandbox.ts";
import { createBwrap, viewSummary } from "./bwrap.ts";
import type { Confinement } from "./confinement.ts";

/**
 * The runtime itself refuses loopback, link-local and metadata addresses; these are the other
 * private ranges.
 */
const privateRanges = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "64:ff9b:1::/48"];

/**
 * Confinement with the domain allow-list of the sandbox runtime: our own bubblewrap profile for
 * everything but the network, and the runtime's proxy as the only way to the network; it checks
 * names and the addresses they resolve to. The decision record explains why the runtime's whole
 * wrapper is not used. The runtime is one per process, so only one of these can be open at a time.
 */
export async function createSrt(view: SandboxProfile, allow: readonly string[]): Promise<Confinement> {
  for (const program of ["bwrap", "socat", "rg"]) findProgram(program);
  // Loaded here, because most servers never need it and it would take a tenth of their start time.
  const { SandboxManager } = await import("@anthropic-ai/sandbox-runtime");
  const folder = await makeOwnedFolder(tmpdir(), "manyhands-srt");
  const socatPath = await socatThatEndsWithUs(folder);
  const reset = () => closeAll(SandboxManager.reset, () => rm(folder, { recursive: true, force: true }));
  let proxySocket: string | undefined;
  try {
    await SandboxManager.initialize({
      ...(socatPath !== undefined && { socatPath }),
      network: {
        allowedDomains: [...allow],
        deniedDomains: ["localhost", "*.localhost"],
        deniedResolvedAddresses: privateRanges,
      },
      filesystem: { denyRead: [], allowWrite: [], denyWrite: [] },
    });
    proxySocket = SandboxManager.getLinuxHttpSocketPath();
    if (proxySocket === undefined) throw new AppError("sandbox_unavailable", "the runtime's proxy did not start");
  } catch (error) {
    await reset();
    throw error;
  }
  const user = unprivilegedUser();
  if (user) chownSync(proxySocket, user.uid, user.gid);
  const bwrap = createBwrap(view, {
    socket: proxySocket,
    username: "srt",
    password: SandboxManager.getProxyAuthToken() ?? "",
  });
  return {
    ...bwrap,
    tier: "srt",
    summary: `${viewSummary(view)}, network only to ${allow.join(", ") || "nothing"}`,
    close: () => closeAll(bwrap.close, reset),
  };
}

/**
 * A program for the runtime's relay between its proxy and a socket, which would outlive a server
 * that is killed. Undefined where programs in temporary folders may not be executed.
 */
async function socatThatEndsWithUs(folder: string): Promise<string | undefined> {
  const path = join(folder, "socat");
  const script = `#!/bin/sh\nexec ${findProgram("setpriv")} --pdeathsig TERM ${findProgram("socat")} "$@"\n`;
  await writeFile(path, script, { mode: 0o700 });
  return await access(path, constants.X_OK).then(
    () => path,
    () => undefined,
  );
}
