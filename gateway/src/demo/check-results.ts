import { basename } from "node:path";
import type { Config } from "manyhands/internal/config/config";
import type { SavedFile } from "../tasks/save-files.ts";
import { sizeText } from "../terminal/totals.ts";
import { type Abilities, isAsTold } from "./demo-task.ts";
import type { Registration } from "./registration-site.ts";
import type { ProjectFiles } from "./shipping-project.ts";
import { faultOfPatch } from "./shipping-project.ts";
import { figuresOf, verifyReport } from "./verify-report.ts";

/** One result of the demo, and whether it is right. */
export type ResultCheck = { readonly isRight: boolean; readonly text: string };

/** What the results are compared with. */
export type Expected = {
  readonly abilities: Abilities;
  readonly csv: string;
  readonly project: ProjectFiles;
  readonly registrations: readonly Registration[];
  readonly config: Config;
};

const pngSignature = "89504e470d0a1a0a";

/**
 * Checks everything the demo's task asked for with independent computations; nothing an agent says
 * counts.
 */
export async function checkResults(files: readonly SavedFile[], expected: Expected): Promise<ResultCheck[]> {
  const report = await readSaved(files, "report.md");
  if (report === undefined) return [{ isRight: false, text: "the flow says it is done, but there is no report.md" }];
  const { abilities, csv, registrations } = expected;
  return [
    checkFigures(report, csv),
    await checkPicture(files, report),
    ...(abilities.runsCode ? [await checkPatch(await readSaved(files, "changes.patch"), expected)] : []),
    ...(abilities.operatesPages ? [checkRegistration(report, registrations)] : []),
  ];
}

function checkFigures(report: string, csv: string): ResultCheck {
  const verdicts = verifyReport(report, figuresOf(csv));
  const wrong = verdicts.filter(({ found }) => !found);
  const list = wrong.map(({ figure, expected }) => `\n    ${figure}: ${expected} is not in the report`).join("");
  return wrong.length === 0
    ? { isRight: true, text: `all ${verdicts.length} figures of the report are right, by a computation of our own` }
    : { isRight: false, text: `${wrong.length} of ${verdicts.length} figures are wrong or missing${list}` };
}

/** The chart: a PNG of some size that the report shows. */
async function checkPicture(files: readonly SavedFile[], report: string): Promise<ResultCheck> {
  for (const { path, bytes } of files.filter(({ path }) => path.endsWith(".png") && report.includes(basename(path)))) {
    const head = Buffer.from(await Bun.file(path).slice(0, 24).bytes());
    const isPicture = head.toString("hex", 0, 8) === pngSignature && head.readUInt32BE(16) >= 200;
    if (isPicture) return { isRight: true, text: `the report shows the chart: ${basename(path)}, ${sizeText(bytes)}` };
  }
  return { isRight: false, text: "the report shows no PNG chart" };
}

async function checkPatch(patch: string | undefined, { project, config }: Expected): Promise<ResultCheck> {
  if (patch === undefined) return { isRight: false, text: "there is no changes.patch" };
  const fault = await faultOfPatch(patch, project, config);
  return fault === undefined
    ? { isRight: true, text: "changes.patch applies to the project as it was sent, and all tests pass with it" }
    : { isRight: false, text: `changes.patch is not right: ${fault}` };
}

function checkRegistration(report: string, registrations: readonly Registration[]): ResultCheck {
  const [made] = registrations;
  if (made === undefined || registrations.length > 1)
    return { isRight: false, text: `the site received ${registrations.length} registrations instead of one` };
  if (!isAsTold(made))
    return {
      isRight: false,
      text: `the site was told something else than the task says: ${JSON.stringify(made.given)}`,
    };
  return report.includes(made.number)
    ? {
        isRight: true,
        text: `the site received the registration as the task says it, and the report names ${made.number}`,
      }
    : { isRight: false, text: `the report does not name the registration's number ${made.number}` };
}

async function readSaved(files: readonly SavedFile[], name: string): Promise<string | undefined> {
  const file = files.find(({ path }) => basename(path) === name);
  return file === undefined ? undefined : Bun.file(file.path).text();
}
