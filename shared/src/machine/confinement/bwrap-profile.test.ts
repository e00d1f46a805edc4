import { expect, test } from "bun:test";
import { lstatSync, readlinkSync } from "node:fs";
import { bwrapProfile, readableEtc, systemPlaces } from "./bwrap-profile.ts";

const argv = bwrapProfile("/ws", ["--ro-bind", "/more", "/more"], "own-proc");
const told = argv.join(" ");

test.each([
  "--unshare-user --unshare-all --disable-userns",
  "--die-with-parent --new-session --cap-drop ALL",
  "--ro-bind /usr /usr",
  "--proc /proc --dev /dev",
  "--perms 1777 --size 67108864 --tmpfs /dev/shm --remount-ro /dev",
  "--perms 1777 --size 268435456 --tmpfs /tmp --symlink /tmp /var/tmp",
  "--bind /ws /ws --ro-bind /more /more --remount-ro / --chdir /ws --",
])("a confined process has the view %s", (part) => {
  expect(told).toContain(part);
});

test("where /proc cannot be one's own it is an empty folder with files that tell of no process", () => {
  const covered = bwrapProfile("/ws", [], "no-proc");
  const shown = covered.join(" ");
  expect(shown).toContain("--perms 0555 --dir /proc --ro-bind-try /proc/cpuinfo /proc/cpuinfo");
  expect([covered.includes("--proc"), covered.includes("--disable-userns")]).toEqual([false, false]);
  const files = covered.filter((word) => word.startsWith("/proc/"));
  expect(files.filter((path) => /\d|self|net|sys\//.test(path.slice(6)))).toEqual([]);
});

test("a system folder that is a link is one in the view too", () => {
  for (const folder of ["/bin", "/lib"]) {
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) expect(told).toContain(` --symlink ${readlinkSync(folder)} ${folder} `);
    else if (found?.isDirectory()) expect(told).toContain(` --ro-bind ${folder} ${folder} `);
  }
});

test("of the host nothing can be written but the workspace, and of its settings only what is listed is seen", () => {
  const bound = argv.flatMap((word, at) => (word === "--bind" ? [argv[at + 1]] : []));
  expect(bound).toEqual(["/ws"]);
  const etc = argv.filter((word) => word.startsWith("/etc/"));
  expect(new Set(etc)).toEqual(new Set(readableEtc));
  for (const secret of ["/etc/shadow", "/etc/gitconfig", "/etc/ssh", "/etc/environment"])
    expect(systemPlaces).not.toContain(secret);
});

test("the places that a view may show have the programs, their libraries and the devices", () => {
  for (const place of ["/usr", "/bin", "/lib", "/lib64", "/etc/ssl", "/dev/null", "/dev/urandom"])
    expect(systemPlaces).toContain(place);
});
