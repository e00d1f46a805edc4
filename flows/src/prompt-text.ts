import type { StoredFile } from "manyhands";
import { type AskOutcome, cut, type Flow } from "manyhands/flows";

/** The task, preceded by the earlier conversation. */
export function wholeGoal({ goal, earlier }: Pick<Flow, "goal" | "earlier">): string {
  return earlier === "" ? goal : `Earlier in this conversation:\n${earlier}\n\nNow:\n${goal}`;
}

/**
 * A text to know of, as a quotation: what it asks for is not asked of the agent that reads it.
 */
export function quoted(text: string): string {
  return text.replaceAll(/^/gm, "> ");
}

/** The text, followed by what the user has said since. */
export function withAdditions(text: string, added: readonly string[]): string {
  return added.length === 0 ? text : `${text}\n\nThe user added:\n${added.join("\n")}`;
}

/**
 * The template with its `{name}`s replaced in one pass: inserted values are not searched for names.
 * Unknown names stay unchanged.
 */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{([a-z]+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  );
}

/**
 * A text by others, between marks of this name, so that a model reads it as data. The same marks
 * inside it are made harmless, so that it cannot close itself or open another.
 */
export function marked(mark: string, text: string, about: Readonly<Record<string, string | number>> = {}): string {
  const facts = Object.entries(about).map(
    ([name, value]) => ` ${name}="${String(value).replaceAll(/["<>\s]+/g, " ")}"`,
  );
  const harmless = text.replaceAll(new RegExp(`<(?=\\s*/?\\s*${mark}\\b)`, "gi"), "&lt;");
  return `<${mark}${facts.join("")}>\n${harmless}\n</${mark}>`;
}

const longestReport = 16_000;

/**
 * What an agent made, for a model to judge: its answer between `<report>` marks, the calls it made
 * if they are known, how its files begin and end between `<file>` marks, and the same of files it
 * was `given`, if still unchanged, between `<given>` marks.
 */
export async function shownWork(
  flow: Flow,
  { answer, files, made }: Pick<AskOutcome, "answer" | "files" | "made">,
  given: readonly StoredFile[] = [],
): Promise<string> {
  const others = given.filter(({ name }) => files.every((file) => file.name !== name));
  const shown = await shownFiles(flow, files, others);
  return [
    marked("report", cut(answer, longestReport)),
    ...callsText(made),
    ...(made !== undefined && files.length === 0 ? ["No file was handed over."] : []),
    ...shown,
  ].join("\n\n");
}

/**
 * The calls that an agent made, as its journal has them, between `<calls>` marks: nothing if there
 * is no journal to tell. A report may claim more.
 */
export function callsText(made: AskOutcome["made"]): string[] {
  if (made === undefined) return [];
  const { calls, count } = made;
  if (count === 0) return ["No tool was called: whatever the report says was done by a tool was not."];
  const lines = calls.map(({ name, arguments: given, outcome, result }) => {
    const ended = outcome === "open" ? "no result" : outcome;
    return `${name} ${given} → ${ended}${result === "" ? "" : `: ${result}`}`;
  });
  const some = count > calls.length ? `, the first and last ${calls.length} of ${count}` : "";
  return [
    `The calls that were made, by the record and not by the report${some}:\n${marked("calls", lines.join("\n"))}`,
  ];
}

/**
 * The beginnings and ends of files that were made, and of others that were given, between marks.
 */
export async function shownFiles(
  flow: Flow,
  made: readonly StoredFile[],
  given: readonly StoredFile[] = [],
): Promise<string[]> {
  const excerpts = await flow.excerpts([...made, ...given]);
  return excerpts.map(({ name, size, text }, index) =>
    marked(index < made.length ? "file" : "given", text ?? "[It is there; what is in it is not shown.]", {
      name,
      bytes: size,
    }),
  );
}
