import type { Config } from "../config/config.ts";
import { createSandbox } from "../machine/confinement/create-sandbox.ts";
import type { Sandbox } from "../machine/sandbox/sandbox.ts";
import { lookForPython, type PythonLook } from "../tools/python/find-python.ts";

/** What this machine runs commands with. */
export type Machine = {
  readonly sandbox: Sandbox;
  /** The Python that commands see. */
  readonly python: PythonLook;
};

/**
 * Finds out how commands can be confined here, below `folder`, and which Python they find. A server
 * calls it first and loads nothing else until it resolves: it waits for programs, and loading code
 * would delay their results.
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
