import { existsSync } from "node:fs";

/**
 * What Docker and Kubernetes cover in /proc unless told otherwise, as arguments of an outer bwrap:
 * a file system of that kind can then no longer be mounted inside.
 */
export const coveredProc: readonly string[] = [
  ...["kcore", "keys", "timer_list", "interrupts"].map((name) => ["--ro-bind", "/dev/null", `/proc/${name}`]),
  ...["bus", "fs", "irq", "sys"].map((name) => ["--ro-bind", `/proc/${name}`, `/proc/${name}`]),
].flatMap((mount) => (existsSync(mount[2] ?? "") ? mount : []));

/** What goes before a command so that it runs on this machine as in a container. */
export const inContainerArgv: readonly string[] = [
  ...["bwrap", "--dev-bind", "/", "/", ...coveredProc, "--die-with-parent"],
  ...(process.getuid?.() === 0 ? ["--cap-add", "ALL"] : []),
  "--",
];
