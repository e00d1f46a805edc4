import { closeSync, writeSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../core/errors.ts";
import { descendants, innerPid, readProcessTable, sendSignal, startOf } from "../kernel/process-table.ts";
import { firstProcessFilter, namespaceFilter } from "../kernel/syscall-filter.ts";
import { joinGroupArgv } from "../memory/control-group.ts";
import { sandboxPath } from "../process/environment.ts";
import { findProgram } from "../process/find-program.ts";
import { openWayArgv, stepDownArgv, unprivilegedUser } from "../process/step-down.ts";
import { letOwnerIn } from "../sandbox/guarded-names.ts";
import type { SandboxProfile, SandboxProxy } from "../sandbox/sandbox.ts";
import { bwrapProfile, systemPlaces } from "./bwrap-profile.ts";
import type { ConfinedCommand, Confinement, WrappedCommand } from "./confinement.ts";
import { loopbackBridge } from "./loopback-bridge.ts";
import { admitView, type OrderedView, viewHolds } from "./made-view.ts";
import { type NamePins, pinNames, unpinNames } from "./pinned-names.ts";
import { prlimitArgv } from "./prlimit.ts";
import { type ProxyBridge, proxyBridge } from "./proxy-bridge.ts";
import { endRemains, type FirstProcess } from "./view-remains.ts";

/**
 * Confinement by bubblewrap with our own profile. As root we first make the workspace reachable and
 * become nobody, so that one unprivileged profile serves both cases and the number of processes is
 * counted per sandbox. `out` is the network access of commands that do not set their own.
 */
export function createBwrap(view: SandboxProfile, out: "none" | SandboxProxy = "none"): Confinement {
  const bwrap = findProgram("bwrap");
  const prlimit = findProgram("prlimit");
  const user = unprivilegedUser();
  const stepDown = stepDownArgv(user);
  const filter = namespaceFilter();
  const filterOfFirst = firstProcessFilter();
  return {
    tier: "bwrap",
    profile: view,
    summary: `${viewSummary(view)}, no network`,
    user,
    temporary: () => "/tmp",
    async wrap(command: ConfinedCommand): Promise<WrappedCommand> {
      const { workspace, group, paths, network = out, loopback } = command;
      const bridge = network === "none" ? noBridge : proxyBridge(network);
      const inward = loopback === undefined ? noBridge : loopbackBridge(loopback);
      const given = [workspace, ...(paths?.read ?? []), ...(paths?.write ?? [])];
      const openWay = openWayArgv(loopback === undefined ? given : [...given, loopback], user);
      const guarded = await guardNames(workspace, (names) => {
        const shown = [...given, ...names.map((name) => join(workspace, name))];
        return { system: systemPlaces, shown, moved: [...bridge.moved, ...inward.moved] };
      });
      const profile = bwrapProfile(
        workspace,
        [...pathMounts(paths), ...bridge.mounts, ...inward.mounts, ...guarded.argv],
        view,
      );
      const limited = prlimitArgv(prlimit, command.limits, group !== undefined);
      const inside = [...limited, ...bridge.inner, ...inward.inner, ...command.argv];
      let first: FirstProcess | undefined;
      return {
        argv: [
          ...joinGroupArgv(group),
          ...openWay,
          ...stepDown,
          bwrap,
          ...["--info-fd", "3", "--seccomp", "4", "--args", "5"],
          ...(command.first ? ["--as-pid-1"] : []),
          ...profile,
          ...inside,
        ],
        env: { PATH: sandboxPath },
        pipes: 3,
        async admit([info = -1, filterEnd = -1, argsEnd = -1]) {
          await tellArguments(argsEnd, environmentArgv({ ...bridge.env, ...command.env }));
          const told = (pid: number) => {
            first = { pid, startedAt: startOf(pid) };
          };
          const gate = { info, filterEnd, filter: command.first ? filterOfFirst : filter, told };
          return admitView(gate, guarded.ordered);
        },
        endRest: () => endRemains(first, inside),
        refused: guarded.loosen,
        leader: (started) => inNamespace(started, command.first ? 1 : 2),
        rest: guarded.rest,
        resume: async () => first !== undefined && guarded.resume(first.pid),
        end(started) {
          // The namespace's first process dies with bwrap only once it has requested that, so kill
          // both.
          for (const pid of first === undefined ? [started] : [first.pid, started]) sendSignal(pid, "SIGKILL");
        },
        release: guarded.release,
      };
    },
    close: async () => {},
  };
}

/** What a view keeps from a command, in a few words for people. */
export function viewSummary(view: SandboxProfile): string {
  return `own file system view, own namespaces${view === "no-proc" ? ", no /proc" : ""}`;
}

/** The guarded names of one sandbox, and the view that it has with them. */
async function guardNames(workspace: string, viewWith: (names: readonly string[]) => OrderedView) {
  const first = await pinNames(workspace);
  let held: NamePins | undefined = first;
  let isReleased = false;
  return {
    argv: first.argv,
    ordered: viewWith(first.names),
    loosen: first.loosen,
    rest() {
      held?.leave();
      held = undefined;
    },
    async resume(pid: number) {
      await letOwnerIn(workspace);
      const again = await pinNames(workspace);
      if (!isReleased && viewHolds(pid, viewWith(again.names))) {
        held = again;
        return true;
      }
      await again.release();
      return false;
    },
    async release() {
      isReleased = true;
      const pins = held;
      held = undefined;
      await (pins === undefined ? unpinNames(workspace) : pins.release());
    },
  };
}

const pauseMs = 1;

const noBridge: ProxyBridge = { mounts: [], moved: [], inner: [], env: {} };

/**
 * Sets the command's environment inside the sandbox, so that variables of the loader or the shell
 * affect neither us nor bwrap. Passed through a pipe, because every process can read a command
 * line.
 */
function environmentArgv(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]);
}

function pathMounts(paths: ConfinedCommand["paths"]): string[] {
  const read = paths?.read.flatMap((path) => ["--ro-bind", path, path]) ?? [];
  return [...read, ...(paths?.write.flatMap((path) => ["--bind", path, path]) ?? [])];
}

/**
 * The process with a number of the namespace: unless the command is its first, that is bwrap's own
 * init, which starts the command as process 2.
 */
function inNamespace(started: number, number: 1 | 2): number | undefined {
  return descendants(readProcessTable(), started).find((pid) => innerPid(pid) === number);
}

/**
 * Passes arguments to a program through one of our pipes, each terminated by NUL, and closes it. A
 * program that has already ended reports the reason itself.
 */
async function tellArguments(end: number, argv: readonly string[]): Promise<void> {
  const bytes = Buffer.from(argv.map((argument) => `${argument}\0`).join(""));
  try {
    for (let written = 0; written < bytes.length; ) {
      try {
        written += writeSync(end, bytes, written);
      } catch (error) {
        if (errnoOf(error) !== "EAGAIN") throw error;
        await Bun.sleep(pauseMs);
      }
    }
  } catch (error) {
    if (errnoOf(error) !== "EPIPE") throw error;
  } finally {
    closeSync(end);
  }
}
