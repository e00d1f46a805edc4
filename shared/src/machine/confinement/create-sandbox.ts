import { realpath } from "node:fs/promises";
import { closeAll } from "../../core/async/close-all.ts";
import { AppError, isShortage, messageOf, unlessMissing } from "../../core/errors.ts";
import { traceVariables } from "../../core/trace.ts";
import { type ControlGroups, openControlGroups } from "../memory/control-group.ts";
import { type ConversationWatch, createConversationWatch } from "../memory/conversation-watch.ts";
import { sandboxEnvironment } from "../process/environment.ts";
import { unprivilegedUser } from "../process/step-down.ts";
import { letOwnerIn } from "../sandbox/guarded-names.ts";
import { defaultLimits } from "../sandbox/limits.ts";
import type {
  Sandbox,
  SandboxCommand,
  SandboxLimits,
  SandboxPaths,
  SandboxProcess,
  SandboxProfile,
} from "../sandbox/sandbox.ts";
import { createBwrap } from "./bwrap.ts";
import type { Confinement } from "./confinement.ts";
import { createLandlock } from "./landlock.ts";
import { createUnconfined } from "./off.ts";
import { probe } from "./probe.ts";
import { findProbeFolder } from "./probe-folder.ts";
import { createSrt } from "./srt.ts";
import { startProcess } from "./start-process.ts";

/**
 * `auto` uses the strongest tier that passes on this machine; a tier's name uses that tier or none;
 * `off` confines nothing.
 */
export type SandboxMode = "auto" | "srt" | "bwrap" | "landlock" | "off";

/** How commands are to be confined. */
export type SandboxOptions = {
  readonly mode: SandboxMode;
  /**
   * The folder of all workspaces: tiers are probed in a folder below it, or elsewhere while it
   * cannot be written. Created if it does not exist.
   */
  readonly folder: string;
  /**
   * Domains that commands may reach, through the proxy of tier `srt`; no other tier lets anything
   * out.
   */
  readonly network?: { readonly allow: readonly string[] };
  /** Bounds of commands that set none. */
  readonly limits?: Partial<SandboxLimits>;
  /** The folder of a virtual environment of Python that every command may read and finds first. */
  readonly python?: string | undefined;
};

type Surroundings = {
  readonly groups: ControlGroups | undefined;
  readonly watch: ConversationWatch;
  readonly python: string | undefined;
};

type Candidate = { readonly name: string; open(profile: SandboxProfile): Promise<Confinement> };

const profiles: readonly SandboxProfile[] = ["own-proc", "no-proc"];

/**
 * Decides once how commands are confined: each tier in turn must run a command and refuse a
 * forbidden read and write. Never throws because no sandbox is available: the result then has tier
 * `none`, whose `description` says what each tier lacked. Rejects with `unavailable` if a tier
 * could not be tried out, since that says nothing of the machine.
 */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { path, note } = await findProbeFolder(options.folder);
  const reasons = note === undefined ? [] : [note];
  const limits = { ...defaultLimits, ...options.limits };
  for (const { name, open } of candidates(options)) {
    for (const profile of profiles) {
      try {
        const confinement = await open(profile);
        try {
          const trial = confinement.tier === "off" ? [] : probe(confinement, path);
          const attempts = [openControlGroups(limits), trial] as const;
          // One that fails must not leave the other at work.
          await Promise.allSettled(attempts);
          const [groups, notes] = await Promise.all(attempts);
          reasons.unshift(...notes);
          return sandboxOf(confinement, { limits, groups, python: options.python }, reasons);
        } catch (error) {
          await confinement.close();
          throw error;
        }
      } catch (error) {
        const reason = messageOf(error);
        if (isShortage(reason)) throw triedInVain(`${name}: ${reason}`, error);
        reasons.push(`${name}: ${reason}`);
        if (!lacksProc(reason)) break;
      }
    }
  }
  return noSandbox(reasons);
}

function triedInVain(what: string, cause: unknown): AppError {
  return new AppError(
    "unavailable",
    `The sandbox could not be tried out, as something ran short (${what}). Allow this server more (ulimit -n, ulimit -u, memory) and try again.`,
    { cause },
  );
}

/**
 * Whether bwrap complains about /proc, as it does where a container covers parts of it. Any other
 * failure is no reason to show commands another view.
 */
function lacksProc(reason: string): boolean {
  return /^bwrap: .*\/proc\b/.test(reason);
}

function candidates({ mode, network }: SandboxOptions): Candidate[] {
  const allow = network?.allow ?? [];
  if (mode === "off") return [{ name: "off", open: async () => createUnconfined() }];
  const confining: Candidate[] = [
    { name: "srt", open: (profile) => createSrt(profile, allow) },
    { name: "bwrap", open: async (profile) => createBwrap(profile) },
    { name: "landlock", open: async () => createLandlock() },
  ];
  if (mode !== "auto") return confining.filter(({ name }) => name === mode);
  if (allow.length > 0) return confining;
  const needless = async () => {
    throw new AppError("sandbox_unavailable", "not needed, as no domain is allowed");
  };
  return [{ name: "srt", open: needless }, ...confining.slice(1)];
}

type Bounds = {
  readonly limits: SandboxLimits;
  readonly groups: ControlGroups | undefined;
  readonly python: string | undefined;
};

function sandboxOf(confinement: Confinement, { limits, groups, python }: Bounds, reasons: readonly string[]): Sandbox {
  const preparing = new Set<Promise<SandboxProcess>>();
  const running = new Set<SandboxProcess>();
  const around: Surroundings = { groups, watch: createConversationWatch(limits.memoryBytes), python };
  let closed = false;
  const spawnOne = async (command: SandboxCommand) => {
    const process = await start(confinement, command, { ...limits, ...command.limits }, around);
    running.add(process);
    process.exited.finally(() => running.delete(process)).catch(() => {});
    // Closed while this one was being prepared: it must not outlive the others.
    if (closed) process.kill();
    return process;
  };
  const bound = groups
    ? "memory bounded for all commands of a conversation together, by control group"
    : "memory bounded for all commands of a conversation together by looking four times a second, as no control group can be made here (systemd: Delegate=yes)";
  return {
    tier: confinement.tier,
    ...(confinement.profile && { profile: confinement.profile }),
    description: [`${confinement.tier}: ${confinement.summary}, ${bound}`, ...reasons].join(" | "),
    user: confinement.user,
    async spawn(command) {
      if (closed) throw new AppError("sandbox_unavailable", "The sandbox has been closed.");
      const starting = spawnOne(command);
      preparing.add(starting);
      return starting.finally(() => preparing.delete(starting));
    },
    async close() {
      closed = true;
      for (const process of running) process.kill();
      await Promise.allSettled(preparing);
      await closeAll(
        [...running].map((process) => () => process.exited),
        confinement.close,
      );
    },
  };
}

async function start(
  confinement: Confinement,
  command: SandboxCommand,
  limits: SandboxLimits,
  { groups, watch, python: environment }: Surroundings,
): Promise<SandboxProcess> {
  const workspace = await realpath(command.workspace);
  await letOwnerIn(workspace);
  // If that place has become full or disappeared, this process's memory is watched instead.
  const group = await groups?.create(workspace, limits).catch(() => undefined);
  try {
    const named = { ...traceVariables(), ...command.env };
    // Set-up may make it, or make it anew, while servers run.
    const python = environment === undefined ? undefined : await realpath(environment).catch(unlessMissing);
    const env = sandboxEnvironment(workspace, confinement.temporary(workspace), named, python);
    const { argv, network, loopback, first } = command;
    const paths = python === undefined ? command.paths : withRead(command.paths, python);
    const given = {
      ...(paths && { paths }),
      ...(network && { network }),
      ...(loopback !== undefined && { loopback }),
      ...(first && { first }),
    };
    return await startProcess(confinement, { argv, workspace, env, limits, group, ...given }, watch);
  } catch (error) {
    await group?.remove();
    throw error;
  }
}

function withRead(paths: SandboxPaths = { read: [], write: [] }, path: string): SandboxPaths {
  return { ...paths, read: [...paths.read, path] };
}

/**
 * What stands for a sandbox where there is none: it runs nothing, and its `description` says why.
 */
export function noSandbox(reasons: readonly string[]): Sandbox {
  const description = `none: commands are switched off | ${reasons.join(" | ")}`;
  return {
    tier: "none",
    description,
    // The owner of files in workspaces must not depend on which tiers this machine has.
    user: unprivilegedUser(),
    spawn: async () => {
      throw new AppError("sandbox_unavailable", `No sandbox on this machine, so no command is run. ${description}`);
    },
    close: async () => {},
  };
}
