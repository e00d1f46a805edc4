import { expect, test } from "bun:test";
import { readLimits } from "../kernel/hard-limits.ts";
import { defaultLimits } from "../sandbox/limits.ts";
import { prlimitArgv } from "./prlimit.ts";

test("every bound precedes a command; address space stands in for memory only where nothing else bounds it", () => {
  const limits = { ...defaultLimits, cpuSeconds: 7, fileBytes: 8, processes: 9, memoryBytes: 10 };
  const always = ["/p", "--cpu=7:8", "--fsize=8", "--nproc=9", "--nofile=1024", "--core=0"];
  expect(prlimitArgv("/p", limits, true, {})).toEqual([...always, "--"]);
  expect(prlimitArgv("/p", limits, false, {})).toEqual([...always, "--as=20", "--"]);
  const few = { cpu: 7, fsize: 6, nproc: 5, nofile: 64, as: 4 };
  const lowered = ["/p", "--cpu=7:7", "--fsize=6", "--nproc=5", "--nofile=64", "--core=0", "--as=4", "--"];
  expect(prlimitArgv("/p", limits, false, few)).toEqual(lowered);
  expect(prlimitArgv("/p", limits, true, { nofile: 2_000, cpu: 8, fsize: 9 })).toEqual([...always, "--"]);
});

test("the kernel's words for the hard limits of a process are read, those without a limit left out", () => {
  const text = `Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            600                  seconds
Max file size             unlimited            unlimited            bytes
Max processes             100                  200                  processes
Max open files            32                   64                   files
Max address space         unlimited            unlimited            bytes
`;
  expect(readLimits(text)).toEqual({ cpu: 600, nproc: 200, nofile: 64 });
});
