import { downloadBrowser } from "./browser-download.ts";
import { type ProgramOutcome, runProgram } from "./command.ts";
import { findProgram } from "./find.ts";
import { canInstall, installCommand, installPrograms } from "./packages.ts";
import { type Program, programs } from "./programs.ts";

/** One program after set-up. */
type Finding = {
  readonly program: Program;
  readonly state: "found" | "installed" | "missing";
  readonly path: string | undefined;
};

/** What set-up found and did. `advice` is the command that would install what is missing. */
export type SetupOutcome = {
  readonly packages: InstallFailure | undefined;
  readonly findings: readonly Finding[];
  readonly advice: string | undefined;
  /** The end of the output of the installation that failed. */
  readonly failure: string | undefined;
};

type SetupOptions = {
  /** The folder of the workspace or the package. */
  readonly root: string;
  /** Whether it is the workspace, whose packages are installed from its lock file. */
  readonly workspace: boolean;
  /** Whether missing system programs may be installed, where that is possible. */
  readonly system: boolean;
  /** Whether to download a browser for this user when the system's cannot be installed. */
  readonly browser: boolean;
  /** Called before anything that takes longer than a moment. */
  readonly say: (line: string) => void;
};

/**
 * Prepares a machine; repeating it costs nothing: installs the workspace from its lock file, finds
 * the programs agents use, and installs missing ones where it may. It needs only Bun, because it
 * runs before any package is installed. A missing program is never an error: it turns off what
 * needs it.
 */
export async function setUp(options: SetupOptions): Promise<SetupOutcome> {
  const here = programs.filter((program) => program.platforms.includes(process.platform));
  const before = new Map(here.map((program) => [program, findProgram(program)]));
  const wanted = here.filter((program) => before.get(program) === undefined);
  const installing = options.system && wanted.length > 0 && canInstall();
  if (installing) options.say(`Installing ${wanted.map(({ name }) => name).join(", ")} …`);
  const [packages, outcome] = await Promise.all([
    options.workspace ? installWorkspace(options.root) : undefined,
    installing ? installPrograms(wanted, options.root) : undefined,
  ]);
  const browser = packages === undefined && options.browser ? await addBrowser(here, options) : undefined;
  const findings = here.map((program): Finding => {
    const found = before.get(program);
    const path = found ?? findProgram(program);
    const state = found !== undefined ? "found" : path === undefined ? "missing" : "installed";
    return { program, state, path };
  });
  const missing = findings.filter(({ state }) => state === "missing").map(({ program }) => program);
  const failed = outcome !== undefined && outcome.exitCode !== 0 ? outcome : browser;
  return {
    packages,
    findings,
    advice: installCommand(missing),
    failure: failed === undefined ? undefined : failed.output || "It timed out.",
  };
}

/** Downloads Chromium if it is still missing; returns the outcome only if that fails. */
async function addBrowser(here: readonly Program[], { root, say }: SetupOptions): Promise<ProgramOutcome | undefined> {
  const chromium = here.find(({ name }) => name === "chromium");
  if (chromium === undefined || findProgram(chromium) !== undefined) return undefined;
  say("Downloading Chromium …");
  const outcome = await downloadBrowser(root);
  return outcome.exitCode === 0 ? undefined : outcome;
}

/** Why the packages were not installed, in the package manager's own words. */
type InstallFailure = { readonly reason: string };

/**
 * Installs exactly what the lock file says, with the current Bun. Instant when nothing is missing;
 * tried twice, because registries hiccup. Returns undefined on success.
 */
async function installWorkspace(root: string): Promise<InstallFailure | undefined> {
  const command = [process.execPath, "install", "--frozen-lockfile"];
  let outcome = await runProgram(command, { cwd: root, timeoutMs: 120_000 });
  if (outcome.exitCode !== 0) outcome = await runProgram(command, { cwd: root, timeoutMs: 120_000 });
  if (outcome.exitCode === 0) return undefined;
  return { reason: outcome.output === "" ? "bun install took longer than two minutes." : outcome.output };
}
