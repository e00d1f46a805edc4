import * as z from "zod";
import { counted } from "../../../core/text/counted.ts";
import { defineTool } from "../../../core/tools/define-tool.ts";
import { failure, type Tool, type ToolContext, type ToolResult } from "../../../core/tools/tool.ts";
import { runCommand } from "../../../machine/sandbox/run-command.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import { withCallOutput } from "../../shell/call-output.ts";
import { listCodeFiles, relativePath } from "../search/list-code-files.ts";
import { chosenCommand, detectTests } from "./detect-tests.ts";
import { chooseTests } from "./impact/choose-tests.ts";
import type { TestReport } from "./tap.ts";
import { shortenTap } from "./tap.ts";
import { readTestReport, withoutPassed, withoutProgress } from "./test-report.ts";

const maxFailures = 30;
const longestOutput = 8000;

const input = z.strictObject({
  command: z
    .string()
    .min(1)
    .refine((text) => !text.includes("\0"), "must not contain NUL")
    .optional()
    .describe("The command that runs the tests; default: found by the project's files."),
  path: z.string().default(".").describe("The project's folder."),
  affected: z
    .boolean()
    .default(false)
    .describe("Only tests that your changes can reach, by imports. Run all at the end."),
  timeout: z.number().positive().max(1800).default(300).describe("Seconds after which the tests are stopped."),
});

type TestsInput = z.output<typeof input>;

/**
 * The `run_tests` tool: runs a project's tests in the sandbox and counts the results. Must not be
 * created on tier `none`.
 */
export function runTestsTool({ sandbox }: { readonly sandbox: Sandbox }): Tool {
  return defineTool({
    name: "run_tests",
    description:
      "Runs a project's tests (bun, npm, node, pytest, unittest, go, cargo, or the command given) and returns how many passed and failed, the names of those that failed, and the output. Each call has a new shell.",
    input,
    effect: "once",
    edits: true,
    run: (given, context) => runTests(sandbox, given, context),
  });
}

async function runTests(sandbox: Sandbox, given: TestsInput, context: ToolContext): Promise<ToolResult> {
  const { workspace, signal } = context;
  const folder = await relativePath(workspace, given.path);
  const { command, note, none } = await commandFor(sandbox, folder, given, context);
  if (none) return { text: note, isError: false };
  if (command === undefined)
    return failure(
      `Nothing in ${given.path} tells how its tests are run. Give the command, or the project's folder as path.`,
    );
  return await withCallOutput(context, "tests.txt", async (output) => {
    const { exitCode, limit, stdout } = await runCommand(
      sandbox,
      {
        // One pipe, so that both outputs come in the order they were written in.
        argv: ["bash", "-c", `exec 2>&1; cd -- "$1" && eval "$2"`, "bash", folder, command],
        workspace: workspace.root,
        env: { CI: "1", NO_COLOR: "1", PYTHONDONTWRITEBYTECODE: "1", PYTHONNODEBUGRANGES: "1" },
        limits: { wallMs: given.timeout * 1000, cpuSeconds: Math.ceil(given.timeout) * 2 },
      },
      { signal, onOutput: output.listen },
    );
    const inWorkspace = (text: string) => text.replaceAll(`${workspace.root}/`, "");
    const report = readTestReport(Bun.stripANSI(stdout));
    const { failures } = report;
    const left = failures.length - maxFailures;
    const ended = limit === undefined ? { exitCode } : { limit };
    const text = [
      verdict(report, ended),
      note,
      ...failures.slice(0, maxFailures).map((name) => `- ${name.slice(0, 300)}`),
      ...(left > 0 ? [`- and ${left} more`] : []),
      clipped(inWorkspace(shortenTap(withoutPassed(withoutProgress(Bun.stripANSI(await output.text())))))),
      `[${limit === undefined ? "" : `stopped at its limit: ${limit}, `}exit code ${exitCode}${given.command === undefined ? `, command: ${chosenCommand(command, stdout)}` : ""}]`,
    ];
    const made = limit === undefined && (report.passed !== undefined || wasRun(exitCode));
    return { text: text.filter((line) => line !== "").join("\n"), isError: !made };
  });
}

/** Whether the shell found the command and could start it. */
const wasRun = (exitCode: number) => exitCode !== 126 && exitCode !== 127;

/**
 * The outcome of the tests, in one sentence. Failing tests are a result, tests that could not be
 * run are an error.
 */
function verdict(
  { passed, failed = 0 }: TestReport,
  ended: { readonly exitCode: number } | { readonly limit: string },
): string {
  if ("limit" in ended) return `The tests were stopped before their end (${ended.limit}).`;
  const { exitCode } = ended;
  if (passed === undefined)
    return exitCode === 0
      ? "The command succeeded; how many tests passed is not known."
      : wasRun(exitCode)
        ? `The command ended with exit code ${exitCode}; how many tests failed is not known.`
        : `The tests could not be run: the command ended with exit code ${exitCode}.`;
  const all = passed + failed;
  if (all === 0)
    return "No test ran: none was found, or all were skipped, which says nothing about the code. Give the command that runs them.";
  if (failed > 0) return `${failed} of ${all} tests failed.`;
  if (exitCode !== 0) return `No test failed of ${all}, but the command ended with exit code ${exitCode}.`;
  return all === 1 ? "The 1 test passed." : `All ${all} tests passed.`;
}

/** The command that runs the tests, and what a model should know of how it was chosen. */
async function commandFor(
  sandbox: Sandbox,
  folder: string,
  given: TestsInput,
  context: ToolContext,
): Promise<{ readonly command: string | undefined; readonly note: string; readonly none?: true }> {
  if (given.command !== undefined && !given.affected) return { command: given.command, note: "" };
  const { paths } = await listCodeFiles(sandbox, context, { path: folder });
  const found = given.command === undefined ? await detectTests(context.workspace, folder, paths) : undefined;
  const command = given.command ?? found?.command;
  if (command === undefined || !given.affected) return { command, note: found?.note ?? "" };
  return { command, ...(await chooseTests({ folder, paths, command }, context)) };
}

/**
 * Beginning and end of a long output: runners print the first failures first and the totals last.
 */
function clipped(output: string): string {
  if (output.length <= longestOutput) return output;
  const half = longestOutput / 2;
  return `${output.slice(0, half)}\n[… ${counted(output.length - longestOutput, "character")} left out …]\n${output.slice(-half)}`;
}
