import { join } from "node:path";
import type { Config } from "manyhands/internal/config/config";
import { createSandbox } from "manyhands/internal/machine/confinement/create-sandbox";
import type { Check } from "./check.ts";

/** Which sandbox tier this machine has, found out by trying it as a server does at its start. */
export async function checkSandbox(config: Config): Promise<Check> {
  const sandbox = await createSandbox({ mode: config.sandbox.tier, folder: join(config.home, "workspaces") });
  try {
    const { tier, description } = sandbox;
    if (tier === "none")
      return { name: "sandbox", state: "warn", text: `none, so no shell and no Python: ${description}` };
    if (tier === "off") return { name: "sandbox", state: "warn", text: `off: ${description}` };
    return { name: "sandbox", state: "ok", text: description };
  } finally {
    await sandbox.close();
  }
}
