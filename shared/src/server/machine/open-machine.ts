import { stat } from "node:fs/promises";
import type { Config } from "../../config/config.ts";
import { isShortage, messageOf, unlessMissing } from "../../core/errors.ts";
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
  /** Why no command is run although the machine may well have a sandbox. */
  readonly shortage?: string;
};

/** How long it is waited between tries while files, processes or memory are short. */
const pausesMs = [250, 1_000, 3_000];

/**
 * Finds out how commands can be confined here, below `folder`, and which Python they find; or
 * recalls it from an earlier start, and then the first command finds out anew. A server calls it
 * first and loads nothing else until it resolves: it waits for programs, and loading code would
 * delay their results. While something runs short it tries again, and at last opens a machine that
 * runs no commands: what runs short at a start says nothing of the machine.
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
  if (tier === "off" || process.platform !== "linux") return look(open, python);
  const { note } = await findProbeFolder(folder);
  if (note !== undefined) return look(open, python);
  const memory = openMachineMemory(folder, { tier, allowDomains, ...(environment && { environment }) });
  const known = await memory.recall();
  if (known !== undefined)
    return {
      sandbox: rememberedSandbox(known, open, memory.forget),
      python: { found: Promise.resolve(known.python) },
      kept: Promise.resolve(),
    };
  const machine = await look(open, python);
  const strongest = tier !== "auto" ? tier : allowDomains.length > 0 ? "srt" : "bwrap";
  // A weaker tier may be all there is only because the machine was busy.
  return machine.sandbox.tier === strongest ? { ...machine, kept: remember(machine, strongest, memory) } : machine;
}

/** Stands for a virtual environment and what it was made for; undefined without one. */
async function environmentOf({ environment, packages }: Config["python"]): Promise<string | undefined> {
  const found = await stat(environment).catch(unlessMissing);
  return found && JSON.stringify([environment, found.ino, found.ctimeMs, packages]);
}

async function look(
  open: () => Promise<Sandbox>,
  python: Config["python"] | undefined,
  [pauseMs, ...later]: readonly number[] = pausesMs,
): Promise<Machine> {
  try {
    return await lookOnce(open, python);
  } catch (error) {
    if (!isShortage(error)) throw error;
    if (pauseMs === undefined) return withoutCommands(messageOf(error));
  }
  await Bun.sleep(pauseMs);
  return look(open, python, later);
}

async function lookOnce(open: () => Promise<Sandbox>, python: Config["python"] | undefined): Promise<Machine> {
  const sandbox = await open();
  try {
    const { lookForPython } = await import("../../tools/python/find-python.ts");
    return { sandbox, python: await lookForPython(sandbox, python?.packages), kept: Promise.resolve() };
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}

async function withoutCommands(reason: string): Promise<Machine> {
  const { noSandbox } = await import("../../machine/confinement/create-sandbox.ts");
  return {
    sandbox: noSandbox([reason]),
    python: { found: Promise.resolve(undefined) },
    kept: Promise.resolve(),
    shortage: `This server runs no commands until it is started again. ${reason}`,
  };
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
