import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { factsText } from "../cli/agent-line.ts";
import { startAgent } from "../cli/agent-session.ts";
import { conduct, type TaskOutcome } from "../cli/conduct.ts";
import type { CliContext } from "../cli/context.ts";
import { exitCodeOf, exitCodes } from "../cli/exit-code.ts";
import type { FileSource } from "../tasks/agent-client.ts";
import { saveFiles } from "../tasks/save-files.ts";
import { summaryText } from "../terminal/render.ts";
import { safeText } from "../terminal/safe-text.ts";
import { paint } from "../terminal/style.ts";
import { figuresOf } from "./figures.ts";
import { type Verdict, verifyReport } from "./verify-report.ts";

const task =
  "Summarise orders.csv: total revenue, orders and average order value per region, the best month, and anything odd in the data. Check your numbers a second way, then write report.md.";

const headLines = 14;

/**
 * The demo: starts Manus, gives it a file of orders and a task, shows it at work, checks every figure of its report against a computation of its own,
 * leaves the results in `manyhands-demo/` and stops. Exit code 0 only when the report is right.
 */
export async function demoCommand(options: { readonly config?: string }, context: CliContext): Promise<number> {
  const { terminal, root } = context;
  const config = await context.configure(options.config);
  for (const note of config.notes) terminal.say(note);
  const csv = await Bun.file(join(root, "gateway/demo/orders.csv")).bytes();
  terminal.say("Starting Manus …");
  const session = await startAgent("manus", config, context);
  try {
    const { client } = session;
    terminal.say(factsText(client.facts));
    terminal.out(`\nTask: ${task}\n\n`);
    const message = { text: task, files: [{ name: "orders.csv", mediaType: "text/csv", bytes: csv }] };
    const shown = { client, terminal, json: false };
    const outcome = await conduct((signal) => client.send(message, { signal }), shown);
    terminal.out(`\n${summaryText(outcome.view)}\n`);
    if (outcome.state === "completed") return await judge(outcome, client, csv, context);
    terminal.out(`${paint(terminal.style, "red", `✗ ${outcome.state}`)} ${safeText(outcome.text)}\n`);
    return exitCodeOf(outcome.state) || exitCodes.failed;
  } finally {
    await session.close();
  }
}

async function judge(outcome: TaskOutcome, source: FileSource, csv: Uint8Array, context: CliContext): Promise<number> {
  const { terminal, cwd } = context;
  const { out, style } = terminal;
  const folder = join(cwd, "manyhands-demo");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "orders.csv"), csv);
  const files = await saveFiles(outcome.artifacts, folder, source, { signal: AbortSignal.timeout(60_000) });
  const reportPath = files.find(({ path }) => path.endsWith("report.md"))?.path;
  if (reportPath === undefined) {
    out(`${paint(style, "red", "✗ the agent says it is done, but there is no report.md")}\n`);
    return exitCodes.failed;
  }
  const report = await Bun.file(reportPath).text();
  const verdicts = verifyReport(report, figuresOf(new TextDecoder().decode(csv)));
  out(verdictText(verdicts, context));
  out(`\n${relative(cwd, reportPath)}\n${head(report)}\n`);
  return verdicts.every(({ found }) => found) ? exitCodes.ok : exitCodes.failed;
}

function verdictText(verdicts: readonly Verdict[], { terminal: { style } }: CliContext): string {
  const wrong = verdicts.filter(({ found }) => !found);
  const right = verdicts.length - wrong.length;
  if (wrong.length === 0)
    return `${paint(style, "green", `✓ all ${right} figures of the report are right`)}, by a computation of our own\n`;
  const lines = wrong.map(({ figure, expected }) => `  ${figure}: ${expected} is not in the report\n`);
  return `${paint(style, "red", `✗ ${wrong.length} of ${verdicts.length} figures are wrong or missing`)}\n${lines.join("")}`;
}

function head(report: string): string {
  const lines = safeText(report).trimEnd().split("\n");
  const more = lines.length > headLines ? [`  │ … ${lines.length - headLines} more lines`] : [];
  return [...lines.slice(0, headLines).map((line) => `  │ ${line}`), ...more].join("\n");
}
