import { expect, test } from "bun:test";
import { isWithin, type Mount, readMounts, shownAt } from "./mount-table.ts";

test.each([
  ["/a", "/a", true],
  ["/a/b", "/a", true],
  ["/ab", "/a", false],
  ["/", "/a", false],
  ["/a", "/", true],
  ["/", "/", true],
])("%s is in %s: %p", (path, folder, within) => {
  expect(isWithin(path, folder)).toBe(within);
});

const mount = (id: number, parent: number, at: string, root = "/"): Mount => ({
  id,
  parent,
  device: `0:${id}`,
  root,
  at,
});

test("a path shows the part of the file system that is mounted nearest to it, and covers what was mounted there before", () => {
  const mounts = [
    mount(2, 1, "/home/ann"),
    mount(1, 0, "/"),
    mount(3, 2, "/home/ann/work", "/projects"),
    mount(4, 1, "/home"),
    mount(5, 3, "/home/ann/work", "/later"),
    mount(6, 1, "/homes"),
  ];
  expect(shownAt(mounts, "/etc/x")).toEqual({ device: "0:1", root: "/etc/x" });
  expect(shownAt(mounts, "/")).toEqual({ device: "0:1", root: "/" });
  // The later mount at /home hides the one at /home/ann that hangs on the root.
  expect(shownAt(mounts, "/home/ann/work/x")).toEqual({ device: "0:4", root: "/ann/work/x" });
  const open = mounts.filter(({ id }) => id !== 4);
  expect(shownAt(open, "/home/ann/x")).toEqual({ device: "0:2", root: "/x" });
  expect(shownAt(open, "/home/ann/work/x")).toEqual({ device: "0:5", root: "/later/x" });
  expect(shownAt(open, "/home/ann/working")).toEqual({ device: "0:2", root: "/working" });
  expect(shownAt(open, "/homes")).toEqual({ device: "0:6", root: "/" });
  expect(shownAt([], "/x")).toBeUndefined();
});

test.skipIf(process.platform !== "linux")("the kernel reports this process's own mounts, the root among them", () => {
  const mounts = readMounts("self");
  expect(mounts.filter(({ at }) => at === "/").length).toBeGreaterThan(0);
  for (const { id, parent, device } of mounts)
    expect([Number.isInteger(id), Number.isInteger(parent), /^\d+:\d+$/.test(device)]).toEqual([true, true, true]);
});
