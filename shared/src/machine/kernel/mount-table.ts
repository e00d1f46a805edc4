import { readFileSync } from "node:fs";
import { join } from "node:path";

/** One mount of a process's view: where it is, and which part of which file system it shows. */
export type Mount = {
  readonly id: number;
  readonly parent: number;
  /** The file system, as `major:minor`. */
  readonly device: string;
  /** What is mounted, as a path inside the file system. */
  readonly root: string;
  readonly at: string;
};

/** What a process sees mounted, as the kernel reports it. Throws when the process has ended. */
export function readMounts(pid: number | "self"): Mount[] {
  const lines = readFileSync(`/proc/${pid}/mountinfo`, "utf8").trimEnd().split("\n");
  return lines.map((line) => {
    const [id, parent, device = "", root = "", at = ""] = line.split(" ");
    return { id: Number(id), parent: Number(parent), device, root: unescaped(root), at: unescaped(at) };
  });
}

/**
 * Which part of which file system an absolute path shows, resolved name by name without following
 * links.
 */
export function shownAt(mounts: readonly Mount[], path: string): Pick<Mount, "device" | "root"> | undefined {
  let mount = mounts.find(({ at, parent }) => at === "/" && mounts.every(({ id }) => id !== parent));
  for (;;) {
    // The first mount point on the way covers other mounts below it.
    const above = mounts
      .filter((one) => one.parent === mount?.id && one.id !== mount.id && isWithin(path, one.at))
      .sort((one, other) => one.at.length - other.at.length)[0];
    if (above === undefined) break;
    mount = above;
  }
  return mount && { device: mount.device, root: join(mount.root, path.slice(mount.at.length)) };
}

/** Whether a path is a folder or inside it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

/** The kernel writes blanks, newlines and backslashes as three octal digits. */
function unescaped(field: string): string {
  return field.replaceAll(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
