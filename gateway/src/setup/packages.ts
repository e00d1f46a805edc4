import { type ProgramOutcome, runProgram } from "./command.ts";
import type { PackageManager, Program } from "./programs.ts";

const installCommands: Readonly<Record<PackageManager, readonly string[]>> = {
  "apt-get": ["apt-get", "install", "-y", "--no-install-recommends"],
  brew: ["brew", "install"],
  dnf: ["dnf", "install", "-y"],
  pacman: ["pacman", "-S", "--noconfirm"],
  apk: ["apk", "add"],
};

/** The package manager of this machine; undefined if it is unknown. */
function packageManager(): PackageManager | undefined {
  const managers: readonly PackageManager[] = ["apt-get", "dnf", "pacman", "apk", "brew"];
  return managers.find((manager) => Bun.which(manager) !== null);
}

/**
 * The command that installs these programs; undefined without a known package manager.
 */
export function installCommand(programs: readonly Program[]): string | undefined {
  const manager = packageManager();
  if (manager === undefined) return undefined;
  const packages = programs.flatMap((program) => program.packages[manager] ?? []);
  if (packages.length === 0) return undefined;
  const elevated = manager === "brew" || process.getuid?.() === 0 ? [] : ["sudo"];
  return [...elevated, ...installCommands[manager], ...packages].join(" ");
}

/**
 * Whether set-up may install programs itself: only as root with apt-get. Otherwise the owner
 * decides.
 */
export function canInstall(): boolean {
  return packageManager() === "apt-get" && process.getuid?.() === 0;
}

/**
 * Installs small programs in one apt-get call and the browser, which is big and has another name in
 * some distributions, in a second one. Takes at most about eight minutes, and 15 seconds for a
 * server that does not answer. Returns the outcome of the first command that failed.
 */
export async function installPrograms(programs: readonly Program[], cwd: string): Promise<ProgramOutcome> {
  const options = [
    "-qq",
    "-o",
    "Acquire::http::Timeout=15",
    "-o",
    "Acquire::Retries=1",
    "-o",
    "DPkg::Lock::Timeout=60",
  ];
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  // One that was killed half-way, or with its machine, stands in the way of all that follow.
  const toItsEnd = ["dpkg", "--configure", "-a"];
  await runProgram(toItsEnd, { cwd, env, timeoutMs: 60_000 }).catch(() => undefined);
  const update = await runProgram(["apt-get", ...options, "update"], { cwd, env, timeoutMs: 60_000 });
  const install = (some: readonly Program[], timeoutMs: number) => {
    const packages = some.flatMap((program) => program.packages["apt-get"] ?? []);
    const command = ["apt-get", ...options, ...installCommands["apt-get"].slice(1), ...packages];
    return packages.length === 0 ? undefined : runProgram(command, { cwd, env, timeoutMs });
  };
  const small = await install(
    programs.filter(({ name }) => name !== "chromium"),
    110_000,
  );
  const big = await install(
    programs.filter(({ name }) => name === "chromium"),
    240_000,
  );
  const failed = [small, big].find((outcome) => outcome !== undefined && outcome.exitCode !== 0);
  if (failed === undefined) return big ?? small ?? update;
  return update.exitCode === 0 ? failed : update;
}
