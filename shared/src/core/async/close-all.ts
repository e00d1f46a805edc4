/**
 * What closes one part, or what closes several together; undefined if there is nothing to close.
 */
export type Closing = (() => unknown) | undefined | readonly Closing[];

/**
 * Takes all steps in turn, those of a list together, and each of them also if another failed.
 * Rejects at the end with the failure, or with an `AggregateError` if there are several.
 */
export async function closeAll(...steps: readonly Closing[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) failures.push(...(await failuresOf(step)));
  if (failures.length > 1) throw new AggregateError(failures, "Several parts could not be closed.");
  if (failures.length === 1) throw failures[0];
}

/**
 * The parts, once all are open. If one cannot be opened, those that can are closed before the
 * promise rejects with its failure.
 */
export async function openTogether<const Parts extends Readonly<Record<string, Promise<unknown>>>>(
  opening: Parts,
  close: { readonly [Name in keyof Parts]?: (part: Awaited<Parts[Name]>) => unknown },
): Promise<{ -readonly [Name in keyof Parts]: Awaited<Parts[Name]> }> {
  const names = Object.keys(opening);
  const ends = await Promise.allSettled(Object.values(opening));
  const failed = ends.find(({ status }) => status === "rejected");
  const parts = Object.fromEntries(ends.flatMap((end, at) => ("value" in end ? [[names[at], end.value]] : [])));
  if (failed === undefined) return parts as Awaited<ReturnType<typeof openTogether<Parts>>>;
  const closing = async ([name, part]: [string, unknown]) => close[name]?.(part as never);
  await Promise.allSettled(Object.entries(parts).map(closing));
  throw (failed as PromiseRejectedResult).reason;
}

async function failuresOf(step: Closing): Promise<unknown[]> {
  if (step === undefined) return [];
  if (typeof step !== "function") return (await Promise.all(step.map(failuresOf))).flat();
  try {
    await step();
    return [];
  } catch (error) {
    return [error];
  }
}
