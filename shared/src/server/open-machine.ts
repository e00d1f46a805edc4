import type { Config } from "../config/config.ts";
import { createSandbox } from "../machine/confinement/create-sandbox.ts";
import type { Sandbox } from "../machine/sandbox/sandbox.ts";
import { lookForPython, type PythonLook } from "../tools/python/find-python.ts";

/** What this machine has to run commands with. */
export type Machine = {
  readonly sandbox: Sandbox;
  /** The Python that commands see. */
  readonly python: PythonLook;
};

/**
 * Finds out how commands can be confined here, below `folder`, and begins to look for what they
 * find. It waits for programs and needs little of our code: a server begins with it. Nothing else
 * is to be loaded before it resolves, since loading leaves this process no time to attend to them.
 */
export async function openMachine(
  folder: string,
  { tier, memoryBytes, allowDomains }: Config["sandbox"],
): Promise<Machine> {
  const sandbox = await createSandbox({
    mode: tier,
    folder,
    network: { allow: allowDomains },
    limits: { ...(memoryBytes !== undefined && { memoryBytes }) },
  });
  return { sandbox, python: await lookForPython(sandbox) };
}
