import { doing, type StepReport, stepReports } from "../flow-messages.ts";
import { agree, type Figures, money, readFigures, totalsOf } from "../orders/orders-figures.ts";
import { ordersMarkdown } from "../orders/orders-markdown.ts";
import { waysFor } from "../orders/orders-ways.ts";
import { type Acting, excerpt, finish, type Scene, type Script } from "../script.ts";
import { readersOf, writeAndVerify } from "../write-and-verify.ts";
import { addressIn, monthEndSteps } from "./month-end-steps.ts";

/**
 * Manus's part of the demo: recomputes the others' figures, then writes the report that combines
 * everything.
 */
export const writeMonthEnd: Script = {
  task: doing(monthEndSteps.report),
  *play(scene) {
    const reports = stepReports(scene.text).filter(({ outcome }) => outcome === "completed");
    const read = yield* readText(
      scene,
      "figures.json",
      "I am the rehearsal model, a script. First the figures of DataAnalysis.",
    );
    const figures = readFigures(read);
    if (figures === undefined) return finish(scene, "failure", `There are no figures to report: ${excerpt(read)}`);
    const check = yield* checkFigures(scene, figures, waysOf(reports));
    if (!check.ok) return finish(scene, "failure", check.text);
    const repair = reports.find(({ agent }) => agent === "swe");
    const patch = repair === undefined ? "" : yield* readText(scene, "changes.patch", "Now what SWE changed.");
    const { totals, number } = { totals: totalsOf(figures), number: numberOf(reports) };
    const written = yield* writeAndVerify(
      scene,
      {
        file: "report.md",
        text: [
          ordersMarkdown(figures, waysOf(reports), check.text),
          chartSection(reports),
          repairSection(repair, patch),
          registrationSection(scene, number),
        ].join("\n"),
        must: ["Orders summary", money(totals.cents), ...Object.keys(figures.regions), ...(number ? [number] : [])],
        say: "Now the report.",
      },
      [],
    );
    if (!written) return finish(scene, "failure", "No tool here could write report.md.");
    const summary = [
      `report.md is written and read back: revenue ${money(totals.cents)} from ${totals.orders} orders, best month ${totals.bestMonth[0]}.`,
      check.text,
      ...(number === undefined ? [] : [`It names the registration ${number}.`]),
    ];
    return finish(scene, "success", summary.join("\n"), "Done.");
  },
};

/** A file's text, as shown by the first tool that can read it. */
function* readText(scene: Scene, file: string, say: string): Acting<string> {
  let text = "";
  for (const reader of readersOf(scene, file)) {
    [text = ""] = yield { say, calls: [reader] };
    if (!text.startsWith("Interrupted")) break;
  }
  return text;
}

/** Whether an unused way of computing, with one of this agent's tools, gives the same figures. */
function* checkFigures(
  scene: Scene,
  figures: Figures,
  used: readonly string[],
): Acting<{ readonly ok: boolean; readonly text: string }> {
  const fresh = waysFor(scene).filter(({ title }) => !used.includes(title));
  for (const { title, call } of fresh) {
    const [output = ""] = yield { say: `I compute them once more, with ${title}.`, calls: [call] };
    const own = readFigures(output);
    if (own === undefined) continue;
    if (agree(own, figures))
      return { ok: true, text: `Manus computed the figures once more with ${title}: the same to the cent.` };
    const both = `${money(totalsOf(own).cents)} against ${money(totalsOf(figures).cents)}`;
    return {
      ok: false,
      text: `With ${title} the figures are others than DataAnalysis's (${both}), so I write no report.`,
    };
  }
  return { ok: true, text: "Manus could not compute the figures once more: it has no shell and no Python here." };
}

function waysOf(reports: readonly StepReport[]): readonly string[] {
  const told = /Computed with (.+) and checked with (.+); both/.exec(reports.map(({ text }) => text).join("\n"));
  return told === null ? [] : [told[1] ?? "", told[2] ?? ""];
}

function numberOf(reports: readonly StepReport[]): string | undefined {
  return reports
    .map(({ text }) => /Registration number: (MH-\d+)/.exec(text)?.[1])
    .find((number) => number !== undefined);
}

function chartSection(reports: readonly StepReport[]): string {
  const chart = reports.flatMap(({ files }) => files).find((file) => /revenue.*\.png$/.test(file));
  return chart === undefined ? "" : `## Revenue by month\n\n![Revenue by month](${chart})\n`;
}

function repairSection(repair: StepReport | undefined, patch: string): string {
  if (repair === undefined) return "## Shipping costs\n\nNot fixed: no agent here could run the tests.\n";
  const lines = patch.split("\n").map((line) => line.replace(/^\s*\d+\t/, ""));
  const changed = lines.filter((line) => /^[-+](?![-+])/.test(line));
  return `## Shipping costs\n\n${repair.text}\n\n\`\`\`diff\n${changed.join("\n")}\n\`\`\`\n`;
}

function registrationSection({ text }: Scene, number: string | undefined): string {
  const address = addressIn(text);
  if (address === undefined) return "";
  const told =
    number === undefined
      ? `Not made at ${address}: no agent here could operate web pages.`
      : `Made at ${address}: number **${number}**.`;
  return `## Registration\n\n${told}\n`;
}
