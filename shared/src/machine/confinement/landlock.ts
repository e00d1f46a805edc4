import { AppError } from "../../core/errors.ts";
import { type LandlockRule, landlockAbi } from "../kernel/landlock.ts";
import { launcherArgv } from "../process/own-script.ts";
import { unprivilegedUser } from "../process/step-down.ts";
import { readableEtc } from "./bwrap-profile.ts";
import type { Confinement } from "./confinement.ts";
import { superviseCommand, temporaryIn } from "./supervised.ts";

/**
 * The first ABI that can refuse truncation (3), and the first that can also refuse signals to
 * processes of the same user outside (6).
 */
const lowestAbi = { asNobody: 3, asOurselves: 6 };

const readable = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", ...readableEtc];
const exact = true;
const devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/**
 * Confinement by Landlock and a filter that refuses sockets, for machines without user namespaces.
 * It has no /tmp, no process list and no protected names. The first two are refused; the names are
 * simply not protected.
 */
export function createLandlock(): Confinement {
  const abi = process.platform === "linux" ? landlockAbi() : 0;
  const user = unprivilegedUser();
  const lowest = user ? lowestAbi.asNobody : lowestAbi.asOurselves;
  if (abi < lowest) throw new AppError("sandbox_unavailable", `the kernel has Landlock ${abi}, ${lowest} is needed`);
  return {
    tier: "landlock",
    summary:
      "files by allow-list, no sockets, no process namespace, configuration files in the workspace not protected",
    user,
    temporary: temporaryIn,
    async wrap(command) {
      if (command.network !== undefined && command.network !== "none")
        throw new AppError("sandbox_unavailable", "A network of its own needs the sandbox of bwrap, with socat.");
      const rules: LandlockRule[] = [
        ...readable.map((path) => ({ path, access: "read" as const })),
        ...devices.map((path) => ({ path, access: "write" as const })),
        ...(command.paths?.read ?? []).map((path) => ({ path, access: "read" as const, exact })),
        ...[...(command.paths?.write ?? []), command.workspace].map((path) => ({
          path,
          access: "write" as const,
          exact,
        })),
      ];
      return superviseCommand(command, user, launcherArgv(rules, "unpack", "asked"));
    },
    close: async () => {},
  };
}
