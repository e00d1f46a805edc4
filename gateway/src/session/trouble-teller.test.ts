import { expect, test } from "bun:test";
import { troubleTeller } from "./trouble-teller.ts";

test("each reason of a server is told once in a row, and that it is given up in any case", () => {
  const said: string[] = [];
  const tell = troubleTeller({ say: (text) => void said.push(text) });
  const trouble = (type: string, name: string, reason: string) => {
    const before = said.length;
    tell({ type, name, reason, restartInMs: 1_000 } as Parameters<typeof tell>[0]);
    return said.length - before;
  };
  expect([
    trouble("server-down", "swe", "It ended."),
    trouble("server-down", "swe", "It ended."),
    trouble("server-down", "manus", "It ended."),
    trouble("server-down", "swe", "It hangs."),
    trouble("server-down", "swe", "It ended."),
    trouble("server-given-up", "swe", "It ended."),
  ]).toEqual([1, 0, 1, 1, 1, 1]);
});
