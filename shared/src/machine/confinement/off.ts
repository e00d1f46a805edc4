import { unprivilegedUser } from "../process/step-down.ts";
import type { Confinement } from "./confinement.ts";
import { superviseCommand, temporaryIn } from "./supervised.ts";

/**
 * No confinement at all, for those who ask for it by name: limits, a built environment and never
 * root are all that is left.
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
