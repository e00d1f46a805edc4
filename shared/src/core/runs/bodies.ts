import { AppError } from "../errors.ts";
import type { RunBody, RunDefinition } from "./run.ts";

const maxFormer = 2;

/** The version of the bodies of runs that began before bodies had versions. */
export const firstBody = 1;

/** The version with which new runs of this kind begin. */
export function newestBody({ body = firstBody }: Pick<RunDefinition, "body">): number {
  return body;
}

/** Every version of the body, the newest first. */
export function bodiesOf(definition: RunDefinition): readonly RunBody[] {
  const newest = { body: newestBody(definition), execute: definition.execute };
  return [newest, ...(definition.former ?? [])];
}

/** This version of the body; undefined if it is no longer, or not yet, there. */
export function bodyOf(definition: RunDefinition, version: number): RunBody | undefined {
  return bodiesOf(definition).find(({ body }) => body === version);
}

/** The definition with each of its bodies changed in the same way. */
export function mapBodies(
  definition: RunDefinition,
  change: (execute: RunDefinition["execute"]) => RunDefinition["execute"],
): RunDefinition {
  const { former, execute } = definition;
  const changed = former?.map((one) => ({ body: one.body, execute: change(one.execute) }));
  return { ...definition, execute: change(execute), ...(changed && { former: changed }) };
}

/** A definition that is loaded for its first run; its versions are known before, newest first. */
export function loadedBodies(
  kind: string,
  [newest = firstBody, ...former]: readonly number[],
  load: () => Promise<RunDefinition>,
): RunDefinition {
  const versionOf = (body: number): RunBody => ({
    body,
    async execute(run, input) {
      const definition = await load();
      const found = bodyOf(definition, body);
      if (found === undefined) throw versionMissing(definition, body);
      return found.execute(run, input);
    },
  });
  return { kind, ...versionOf(newest), former: former.map(versionOf) };
}

/**
 * What is wrong with the versions of a body, as the end of a sentence; undefined when nothing is.
 */
export function bodyFault(body: number | undefined, former: readonly { readonly body: number }[]): string | undefined {
  const all = [body ?? firstBody, ...former.map((one) => one.body)];
  if (!all.every((one) => Number.isSafeInteger(one) && one >= firstBody))
    return "needs whole numbers from 1 as versions of its body";
  if (former.length > maxFormer) return `has ${former.length} former bodies; ${maxFormer} are the most`;
  if (all.some((one, index) => index > 0 && one >= (all[index - 1] ?? 0)))
    return "needs its bodies in order, the newest first, each with its own version";
  return undefined;
}

/** Throws `config_invalid` if the versions of a body are not in order. */
export function assertBodies({ kind, body, former = [] }: RunDefinition): void {
  const fault = bodyFault(body, former);
  if (fault !== undefined) throw new AppError("config_invalid", `The run kind ${kind} ${fault}.`);
}

/** The error that pauses a run whose body is not there. */
export function versionMissing(definition: RunDefinition, version: number): AppError {
  return new AppError("version_missing", missingText(definition, version));
}

/** What that error says. */
export function missingText(definition: RunDefinition, version: number | string): string {
  const versions = bodiesOf(definition).map(({ body }) => body);
  return `The run began with version ${version} of the body of ${definition.kind}, and what runs here has version ${versions.join(" and ")}. Start the release that has version ${version}, and the run goes on; or cancel it and send the task again.`;
}
