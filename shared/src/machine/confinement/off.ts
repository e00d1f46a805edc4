import { unprivilegedUser } from "../process/step-down.ts";
import type { Confinement } from "./confinement.ts";
import { superviseCommand, temporaryIn } from "./supervised.ts";

/**
 * No confinement at all, if requested by name. Only the limits, the built environment and never
 * running as root remain.
 */
export function createUnconfined(): Confinement {
  const user = unprivilegedUser();
  return {
    tier: "off",
    summary: "commands are NOT confined, because that was asked for",
    user,
    temporary: temporaryIn,
    wrap: (command) => superviseCommand(command, user, []),
    close: async () => {},
  };
}
