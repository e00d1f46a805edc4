import { checking } from "../flow-messages.ts";
import { tellingOf } from "../orders/compute-twice.ts";
import { readFigures } from "../orders/orders-figures.ts";
import { decision, type Script } from "../script.ts";
import { monthEndSteps } from "./month-end-steps.ts";

/** What a check examines: the agent's report, and the files with their excerpts. */
type Evidence = {
  readonly report: string;
  readonly files: readonly { readonly name: string; readonly text: string }[];
};

/** Evidence that a step is done, quoted, or what is missing. */
type Finding = { readonly evidence: string } | { readonly missing: string };

/** The checks of the demo's steps; each examines the actual report and files. */
export const checkMonthEnd: readonly Script[] = [
  check(monthEndSteps.analyse, ({ report, files }) => {
    const figures = readFigures(evidenceText(files, "figures.json"));
    if (figures === undefined) return { missing: "figures.json does not hold the figures." };
    const told = tellingOf(figures);
    if (!report.includes(told)) return { missing: `The report does not say what figures.json does: ${told}` };
    if (!report.includes("both agree exactly")) return { missing: "The report does not say that two ways agree." };
    const chart = files.find(({ name }) => name.endsWith(".png"));
    return chart === undefined ? { missing: "There is no PNG chart." } : { evidence: `${told} Chart: ${chart.name}` };
  }),
  check(monthEndSteps.repair, ({ report, files }) => {
    const passed = /Tests after: (All \d+ tests passed\.)/.exec(report)?.[1];
    if (passed === undefined) return { missing: "The report shows no run in which all tests pass." };
    const change = /^\+(?!\+\+)\s*(.*)$/m.exec(evidenceText(files, "changes.patch"))?.[1];
    return change === undefined
      ? { missing: "There is no change in changes.patch." }
      : { evidence: `${passed} Changed: ${change}` };
  }),
  check(monthEndSteps.register, ({ report, files }) => {
    const number = /Registration number: (MH-\d+)/.exec(report)?.[1];
    if (number === undefined) return { missing: "The report names no registration number." };
    const picture = files.find(({ name }) => name.endsWith(".png"));
    return picture === undefined
      ? { missing: "There is no picture of the page." }
      : { evidence: `Number ${number}, picture ${picture.name}` };
  }),
  check(monthEndSteps.report, ({ files }) => {
    const text = evidenceText(files, "report.md");
    const all = /^\| \*\*All\*\* \|.*$/m.exec(text)?.[0];
    return all === undefined
      ? { missing: "report.md does not hold the sum over all regions." }
      : { evidence: `report.md: ${all}` };
  }),
];

function check(step: string, look: (evidence: Evidence) => Finding): Script {
  return {
    task: checking(step),
    decides: "check_step",
    play({ text }) {
      const found = look(evidenceIn(text));
      return "evidence" in found
        ? decision("check_step", { verdict: "met", evidence: found.evidence, reason: "What was expected is there." })
        : decision("check_step", { verdict: "not_met", evidence: "", reason: found.missing });
    },
  };
}

function evidenceIn(text: string): Evidence {
  const report = /<report>\n([\s\S]*?)\n<\/report>/.exec(text)?.[1] ?? "";
  const files = [...text.matchAll(/<file name="([^"]*)" bytes="[1-9]\d*">\n([\s\S]*?)\n<\/file>/g)];
  return { report, files: files.map(([, name = "", text = ""]) => ({ name, text })) };
}

function evidenceText(files: Evidence["files"], name: string): string {
  return files.find((file) => file.name === name || file.name.endsWith(`/${name}`))?.text ?? "";
}
