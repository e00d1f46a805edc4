/** The words before a step in the message to the agent that does it. */
export function doing(step: string): string {
  return `Your step: ${step}`;
}

/** The words before a step in the question whether it was done. */
export function checking(step: string): string {
  return `The step: ${step}`;
}

/** An agent's report of a step, as a flow passes it to others. */
export type StepReport = {
  readonly id: string;
  readonly agent: string;
  readonly outcome: string;
  readonly step: string;
  readonly text: string;
  readonly files: readonly string[];
  readonly reason: string;
};

const form =
  /^Step (\S+) by (\S+), (\w+): (.*)(?:\n<report>\n([\s\S]*?)\n<\/report>)?(?:\nFiles: (.*))?(?:\nChecked: .*)?(?:\nWhy it is not done: (.*))?/gm;

/** The reports of steps in a message, in order. */
export function stepReports(text: string): readonly StepReport[] {
  return [...text.matchAll(form)].map(
    ([, id = "", agent = "", outcome = "", step = "", report = "", files = "", reason = ""]) => ({
      id,
      agent,
      outcome,
      step,
      text: report,
      files: files === "" ? [] : files.split(", "),
      reason,
    }),
  );
}

/** A file as a flow shows its beginning to a model. */
export type ShownFile = { readonly name: string; readonly text: string };

/** The files shown in a message, empty ones left out. */
export function shownFiles(text: string): readonly ShownFile[] {
  const files = text.matchAll(/<file name="([^"]*)" bytes="[1-9]\d*">\n([\s\S]*?)\n<\/file>/g);
  return [...files].map(([, name = "", text = ""]) => ({ name, text }));
}
