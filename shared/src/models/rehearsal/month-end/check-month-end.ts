import { type ShownFile, shownFiles, stepReports } from "../flow-messages.ts";
import { tellingOf } from "../orders/compute-twice.ts";
import { readFigures } from "../orders/orders-figures.ts";
import { monthEndSteps } from "./month-end-steps.ts";

/** What a check examines: the agent's report, and the files with their excerpts. */
type Evidence = { readonly report: string; readonly files: readonly ShownFile[] };

/**
 * The reasons why steps of the demo that completed are not done, by their ids: each check examines
 * the actual report and files.
 */
export function notDone(text: string): readonly { readonly step: string; readonly reason: string }[] {
  const files = shownFiles(text);
  return stepReports(text).flatMap(({ id, step, outcome, text: report }) => {
    const fault = outcome === "completed" ? faults[step]?.({ report, files }) : undefined;
    return fault === undefined ? [] : [{ step: id, reason: fault }];
  });
}

/** What is missing of a step, by its text. */
const faults: Readonly<Record<string, (evidence: Evidence) => string | undefined>> = {
  [monthEndSteps.analyse]({ report, files }) {
    const figures = readFigures(evidenceText(files, "figures.json"));
    if (figures === undefined) return "figures.json does not hold the figures.";
    const told = tellingOf(figures);
    if (!report.includes(told)) return `The report does not say what figures.json does: ${told}`;
    if (!report.includes("both agree exactly")) return "The report does not say that two ways agree.";
    const chart = files.find(({ name }) => name.endsWith(".png"));
    return chart === undefined ? "There is no PNG chart." : undefined;
  },
  [monthEndSteps.repair]({ report, files }) {
    const passed = /Tests after: (All \d+ tests passed\.)/.exec(report)?.[1];
    if (passed === undefined) return "The report shows no run in which all tests pass.";
    const change = /^\+(?!\+\+)\s*(.*)$/m.exec(evidenceText(files, "changes.patch"))?.[1];
    return change === undefined ? "There is no change in changes.patch." : undefined;
  },
  [monthEndSteps.register]({ report, files }) {
    const number = /Registration number: (MH-\d+)/.exec(report)?.[1];
    if (number === undefined) return "The report names no registration number.";
    const picture = files.find(({ name }) => name.endsWith(".png"));
    return picture === undefined ? "There is no picture of the page." : undefined;
  },
  [monthEndSteps.report]({ files }) {
    const text = evidenceText(files, "report.md");
    const all = /^\| \*\*All\*\* \|.*$/m.exec(text)?.[0];
    return all === undefined ? "report.md does not hold the sum over all regions." : undefined;
  },
};

function evidenceText(files: Evidence["files"], name: string): string {
  return files.find((file) => file.name === name || file.name.endsWith(`/${name}`))?.text ?? "";
}
