import { expect, test } from "bun:test";
import { paperFile, paperFlow } from "../testing/paper-flow.ts";
import { lookAtFiles } from "./make-plan.ts";
import { planning } from "./planning.ts";

const given = { type: "file", ...paperFile("given.csv") } as const;
const agents = [{ name: "one", title: "One", description: "Does it.", skills: [], url: "", kind: "agent" as const }];

test("who plans sees of the files their kind and size, and how those begin that are text; earlier bodies do not look", async () => {
  const long = (name: string, text?: string) => ({ ...given, name, sha256: text ?? "" });
  const some = [long("a.csv", "day,n\n1,2\n2,3\n3,4\n"), long("b.png"), long("c.txt", "x".repeat(1_201))];
  const [table, picture, text] = [
    '\n- a.csv (text/plain, 9 bytes)\n<file name="a.csv">\nday,n\n1,2\n2,3\n3,4\n</file>',
    "\n- b.png (text/plain, 9 bytes)",
    `\n- c.txt (text/plain, 9 bytes)\n<file name="c.txt">\n${"x".repeat(1_200)}\n[cut off]\n</file>`,
  ];
  expect(await lookAtFiles(paperFlow({ files: some }).flow)).toBe(`${table}${picture}${text}`);
  const several = Array.from({ length: 10 }, () => long("d.txt", "y".repeat(401)));
  expect(await lookAtFiles(paperFlow({ files: several }).flow)).toContain(`>\n${"y".repeat(400)}\n[cut off]\n<`);
  const many = Array.from({ length: 52 }, () => long("b.png"));
  expect(await lookAtFiles(paperFlow({ files: many }).flow)).toEndWith(`${picture}\n- … 2 more`);
  expect(await lookAtFiles(paperFlow({}).flow)).toBe("");
  for (const { body, perform } of [planning, ...(planning.former ?? [])]) {
    const { flow, shown } = paperFlow({ agents, files: some }, { decided: [{ title: "None", steps: [] }] });
    await expect(perform(flow, planning.options.parse({}) as never)).rejects.toThrow();
    expect([body, shown.decisions[0]?.text.includes("day,n")]).toEqual([body, body === 3]);
  }
});
