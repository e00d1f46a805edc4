import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { flows } from "@manyhands/flows/flows";

const page = await Bun.file(resolve(import.meta.dir, "../../docs/reference/flows.md")).text();

test("the guide has a section for each flow, with each of its options and their defaults", () => {
  expect(flows.length).toBeGreaterThan(1);
  for (const { name, options } of flows) {
    const section = page.split(/^## /m).find((part) => part.startsWith(`${name}\n`)) ?? "";
    const rows = [...section.matchAll(/^\| `(\w+)` +\| (.*?) +\|/gm)].map(([, option]) => option);
    expect([name, ...rows]).toEqual([name, ...Object.keys(options.shape)]);
    for (const [option, value] of Object.entries(options.parse({}))) {
      const row = section.split("\n").find((line) => line.startsWith(`| \`${option}\``)) ?? "";
      expect(row).toContain(String(value));
    }
  }
});
