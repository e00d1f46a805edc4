import { expect, spyOn, test } from "bun:test";
import { machineClock } from "./machine-clock.ts";

/**
 * A system that has been up for some seconds, and a process that counts milliseconds of its own.
 */
function system() {
  const at = { up: 5_000, own: 700, reads: 0 };
  const files: Record<string, () => string> = {
    "/proc/sys/kernel/random/boot_id": () => "this boot\n",
    "/proc/uptime": () => `${at.up.toFixed(2)} 123.45\n`,
  };
  const read = (path: string) => {
    at.reads++;
    const file = files[path];
    if (file === undefined) throw new Error(`There is no ${path}.`);
    return file();
  };
  const now = spyOn(performance, "now").mockImplementation(() => at.own);
  return { at, read, [Symbol.dispose]: () => now.mockRestore() };
}

test("the uptime goes on with the process, and takes in the time for which the machine slept", () => {
  using one = system();
  const { at, read } = one;
  const clock = machineClock(read);
  expect([clock.boot, clock.uptime()]).toEqual(["this boot", 5_000_000]);
  at.own += 999.5;
  const { reads } = at;
  expect([clock.uptime(), at.reads - reads]).toEqual([5_000_999.5, 0]);
  // What the system counts in steps of ten milliseconds, and how long it took to ask, is no sleep.
  at.own += 0.5;
  at.up += 2;
  expect([clock.uptime(), at.reads - reads]).toEqual([5_001_000, 1]);
  at.own += 1_000;
  at.up += 3_600;
  expect(clock.uptime()).toBe(8_602_000);
  at.own += 1_000;
  at.up += 1;
  expect(clock.uptime()).toBe(8_603_000);
  // A process that was stopped has not slept.
  at.own += 60_000;
  at.up += 60;
  expect(clock.uptime()).toBe(8_663_000);
});

test("while the uptime cannot be read, as with too many open files, the process counts on, and then takes in what it missed", () => {
  using one = system();
  let isOpen = true;
  const clock = machineClock((path) => {
    if (!isOpen) throw new Error("EMFILE");
    return one.read(path);
  });
  isOpen = false;
  one.at.own += 2_000;
  one.at.up += 62;
  expect(clock.uptime()).toBe(5_002_000);
  isOpen = true;
  expect(clock.uptime()).toBe(5_002_000);
  one.at.own += 1_000;
  one.at.up += 1;
  expect(clock.uptime()).toBe(5_063_000);
});

test("where the system says neither its boot nor its uptime, each process counts for itself", () => {
  using one = system();
  const { at, read } = one;
  const without = (lacking: string, text?: string) =>
    machineClock((path) => {
      if (path !== lacking) return read(path);
      if (text === undefined) throw new Error("It cannot be read.");
      return text;
    });
  const clocks = [
    without("/proc/sys/kernel/random/boot_id"),
    without("/proc/uptime"),
    without("/proc/uptime", "no number"),
  ];
  expect(new Set(clocks.map(({ boot }) => boot)).size).toBe(3);
  for (const clock of clocks) {
    expect(clock.uptime()).toBe(at.own);
    expect(Math.abs(clock.wall() - Date.now())).toBeLessThan(60_000);
  }
});
