import { expect, test } from "bun:test";
import { type Mount, readMounts, shownAt } from "../kernel/mount-table.ts";
import { faultOf } from "./made-view.ts";

const mount = (id: number, parent: number, device: string, root: string, at: string): Mount => ({
  id,
  parent,
  device,
  root,
  at,
});

/**
 * A machine with /home on a separate disk, something mounted inside the workspace, and a mount that
 * another one covers.
 */
const host = [
  mount(1, 0, "8:1", "/@", "/"),
  mount(2, 1, "8:2", "/", "/home"),
  mount(3, 2, "8:3", "/", "/home/u/work/data"),
  mount(4, 1, "8:4", "/", "/mnt/deep"),
  mount(5, 1, "8:5", "/", "/mnt"),
];
const view = [
  mount(10, 9, "0:50", "/newroot", "/"),
  mount(11, 10, "8:1", "/@/usr", "/usr"),
  mount(12, 10, "0:51", "/", "/tmp"),
  mount(13, 10, "8:2", "/u/work", "/home/u/work"),
  mount(14, 13, "8:3", "/", "/home/u/work/data"),
  mount(15, 13, "8:2", "/u/work/.git", "/home/u/work/.git"),
  mount(16, 10, "8:1", "/@/run/proxy", "/egress.sock"),
];
const ordered = {
  system: ["/usr"],
  shown: ["/home/u/work", "/home/u/work/.git"],
  moved: [{ at: "/egress.sock", source: "/run/proxy" }],
};
const fault = (changes: readonly Mount[]) => {
  const changed = new Set(changes.map(({ id }) => id));
  return faultOf([...view.filter(({ id }) => !changed.has(id)), ...changes], host, ordered);
};

test("the mounts along a path determine what is there, and what another mount covers is hidden", () => {
  expect(shownAt(host, "/usr/bin")).toEqual({ device: "8:1", root: "/@/usr/bin" });
  expect(shownAt(host, "/home/u")).toEqual({ device: "8:2", root: "/u" });
  expect(shownAt(host, "/home/u/work/data/x")).toEqual({ device: "8:3", root: "/x" });
  expect(shownAt(host, "/home/u/work/database")).toEqual({ device: "8:2", root: "/u/work/database" });
  expect(shownAt(host, "/mnt/deep/x")).toEqual({ device: "8:5", root: "/deep/x" });
});

test("a view that matches the request has no fault", () => {
  expect(fault([])).toBeUndefined();
});

test.each([
  ["a guarded name shows what lies elsewhere", mount(15, 13, "8:2", "/u/.ssh", "/home/u/work/.git")],
  ["a guarded name shows something else of the workspace", mount(15, 13, "8:2", "/u/work/x", "/home/u/work/.git")],
  ["a guarded name shows another disk", mount(15, 13, "8:1", "/u/work/.git", "/home/u/work/.git")],
  ["a mount has come with a name that was changed", mount(20, 13, "8:2", "/u/.ssh", "/home/u/work/.moved")],
  ["something is mounted over the system", mount(20, 11, "8:2", "/u/work/x", "/usr/bin/env")],
  ["something that was not ordered is there, if at its own place", mount(20, 10, "8:2", "/u/.netrc", "/home/u/.netrc")],
  ["the system's folder is another", mount(11, 10, "8:1", "/@/home", "/usr")],
  ["what came with a folder is not what is mounted there", mount(14, 13, "8:2", "/u", "/home/u/work/data")],
  ["what is shown at another place is another thing", mount(16, 10, "8:1", "/@/run/docker.sock", "/egress.sock")],
  ["the source was removed", mount(15, 13, "8:2", "/u/work/.git//deleted", "/home/u/work/.git")],
])("a fault: %s", (_, wrong) => {
  expect(fault([wrong])).toBe(`${wrong.at} shows ${wrong.root}`);
});

test("a fault: a requested mount is missing", () => {
  for (const at of ["/home/u/work", "/home/u/work/.git", "/egress.sock"])
    expect(
      faultOf(
        view.filter((one) => one.at !== at),
        host,
        ordered,
      ),
    ).toContain("is not mounted");
});

test("a view being made is unfinished, whatever it shows", () => {
  expect(faultOf(host, host, ordered)).toBe("unfinished");
  expect(faultOf([], host, ordered)).toBe("unfinished");
  for (const at of ["/oldroot", "/oldroot/home", "/newroot/usr"])
    expect(fault([mount(20, 10, "8:2", "/", at)])).toBe("unfinished");
});

test.if(process.platform === "linux")("the kernel's own table is read", () => {
  const mounts = readMounts("self");
  expect(mounts.some(({ at }) => at === "/")).toBe(true);
  expect(mounts.every(({ device }) => /^\d+:\d+$/.test(device))).toBe(true);
});
