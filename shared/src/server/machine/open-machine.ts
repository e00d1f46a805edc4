import { stat } from "node:fs/promises";
import type { Config } from "../../config/config.ts";
import { unlessMissing } from "../../core/errors.ts";
import { findProbeFolder } from "../../machine/confinement/probe-folder.ts";
import { rememberedSandbox } from "../../machine/confinement/remembered-sandbox.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";
import type { PythonLook } from "../../tools/python/find-python.ts";
import { type FoundMachine, type MachineMemory, openMachineMemory } from "./remembered-machine.ts";

/** What this machine runs commands with. */
export type Machine = {
  readonly sandbox: Sandbox;
  /** The Python that commands see. */
  readonly python: PythonLook;
  /** Resolves when the next start can recall what this one found out. */
  readonly kept: Promise<void>;
};

/**
 * Finds out how commands can be confined here, below `folder`, and which Python they find; or
 * recalls it from an earlier start, and then the first command finds out anew. A server calls it
 * first and loads nothing else until it resolves: it waits for programs, and loading code would
 * delay their results.
 */
export async function openMachine(
  folder: string,
  { tier, memoryBytes, allowDomains }: Config["sandbox"],
  python?: Config["python"],
): Promise<Machine> {
  const open = async () => {
    const { createSandbox } = await import("../../machine/confinement/create-sandbox.ts");
    return createSandbox({
      mode: tier,
      folder,
      network: { allow: allowDomains },
      limits: { ...(memoryBytes !== undefined && { memoryBytes }) },
      python: python?.environment,
    });
  };
  const environment = python && (await environmentOf(python));
  if (tier === "off" || process.platform !== "linux") return look(await open(), python);
  const { note } = await findProbeFolder(folder);
  if (note !== undefined) return look(await open(), python);
  const memory = openMachineMemory(folder, { tier, allowDomains, ...(environment && { environment }) });
  const known = await memory.recall();
  if (known !== undefined)
    return {
      sandbox: rememberedSandbox(known, open, memory.forget),
      python: { found: Promise.resolve(known.python) },
      kept: Promise.resolve(),
    };
  const machine = await look(await open(), python);
  const strongest = tier !== "auto" ? tier : allowDomains.length > 0 ? "srt" : "bwrap";
  // A weaker tier may be all there is only because the machine was busy.
  return machine.sandbox.tier === strongest ? { ...machine, kept: remember(machine, strongest, memory) } : machine;
}

/** Stands for a virtual environment and what it was made for; undefined without one. */
async function environmentOf({ environment, packages }: Config["python"]): Promise<string | undefined> {
  const found = await stat(environment).catch(unlessMissing);
  return found && JSON.stringify([environment, found.ino, found.ctimeMs, packages]);
}

async function look(sandbox: Sandbox, python: Config["python"] | undefined): Promise<Machine> {
  const { lookForPython } = await import("../../tools/python/find-python.ts");
  return { sandbox, python: await lookForPython(sandbox, python?.packages), kept: Promise.resolve() };
}

async function remember(
  { sandbox, python }: Machine,
  tier: FoundMachine["tier"],
  memory: MachineMemory,
): Promise<void> {
  // Whoever waits for the Python reports an error. One that was not found is looked for again.
  const found = await python.found.catch(() => undefined);
  const { profile, description } = sandbox;
  if (found !== undefined) await memory.remember({ tier, profile, description, python: found });
}
