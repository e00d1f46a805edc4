import { lstatSync, readlinkSync } from "node:fs";
import type { SandboxProfile } from "../sandbox/sandbox.ts";

const megabyte = 2 ** 20;
const temporaryBytes = 256 * megabyte;
const sharedMemoryBytes = 64 * megabyte;

/** In addition to /usr: folders on systems that keep them apart, symlinks into /usr elsewhere. */
const systemFolders = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/**
 * The parts of /etc that programs need to start, to know time zones, fonts, certificates and how
 * their windows look, and to name users.
 */
export const readableEtc = [
  "X11/app-defaults",
  "alternatives",
  "bash_completion.d",
  "ca-certificates",
  "ca-certificates.conf",
  "chromium.d",
  "crypto-policies",
  "fonts",
  "group",
  "host.conf",
  "java",
  "libreoffice",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "locale.alias",
  "localtime",
  "magic",
  "mime.types",
  "nsswitch.conf",
  "passwd",
  "pki",
  "protocols",
  "python3",
  "python3.11",
  "python3.12",
  "python3.13",
  "services",
  "ssl",
  "terminfo",
  "timezone",
].map((name) => `/etc/${name}`);

const devices = ["null", "zero", "full", "random", "urandom", "tty"].map((name) => `/dev/${name}`);

/**
 * What `no-proc` shows of the machine's /proc: files that say nothing about any process. Those in
 * `sysvipc` tell each reader of its own namespace.
 */
const procFiles = [
  ...["cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version"],
  ...["sysvipc/msg", "sysvipc/sem", "sysvipc/shm"],
].map((name) => `/proc/${name}`);

/** Every place where a view may show something of the system, if the system has it. */
export const systemPlaces: readonly string[] = ["/usr", ...systemFolders, ...readableEtc, ...devices, ...procFiles];

/**
 * The whole view of a confined process, as arguments of bwrap: system folders read-only, the
 * workspace at its own path, temporary folders of limited size, its own user, PID, IPC, UTS and
 * network namespaces, no capability, no further user namespace, nothing else of the host. `mounts`
 * come after the workspace.
 */
export function bwrapProfile(workspace: string, mounts: readonly string[], profile: SandboxProfile): string[] {
  return [
    ...["--unshare-user", "--unshare-all"],
    // It is set through /proc/sys, which cannot be written where parts of /proc are covered. There
    // the filter of system calls alone refuses namespaces.
    ...(profile === "own-proc" ? ["--disable-userns"] : []),
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox"],
    ...["--ro-bind", "/usr", "/usr"],
    ...systemFolderMounts(),
    ...readableEtc.flatMap((path) => ["--ro-bind-try", path, path]),
    ...procMounts(profile),
    ...["--dev", "/dev"],
    ...sizedFolder("/dev/shm", sharedMemoryBytes),
    ...["--remount-ro", "/dev"],
    ...sizedFolder("/tmp", temporaryBytes),
    ...["--symlink", "/tmp", "/var/tmp"],
    ...["--bind", workspace, workspace],
    ...mounts,
    // The root itself is a tmpfs without a size limit; read-only, it cannot be used to fill the
    // memory.
    ...["--remount-ro", "/"],
    ...["--chdir", workspace],
    "--",
  ];
}

function procMounts(profile: SandboxProfile): string[] {
  if (profile === "own-proc") return ["--proc", "/proc"];
  return ["--perms", "0555", "--dir", "/proc", ...procFiles.flatMap((path) => ["--ro-bind-try", path, path])];
}

function sizedFolder(path: string, bytes: number): string[] {
  return ["--perms", "1777", "--size", String(bytes), "--tmpfs", path];
}

function systemFolderMounts(): string[] {
  const mounts: string[] = [];
  for (const path of systemFolders) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) mounts.push("--symlink", readlinkSync(path), path);
    else if (found?.isDirectory()) mounts.push("--ro-bind", path, path);
  }
  return mounts;
}
