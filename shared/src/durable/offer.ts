import { bodiesOf, missingText, newestBody } from "../core/runs/bodies.ts";
import type { RunDefinition } from "../core/runs/run.ts";

/**
 * What a process can execute, in the form in which it tells its store: that gives a run only to
 * processes which have the body it began with, and pauses it if no process has.
 */
export type Offer = {
  /** By kind, the version with which a run begins here. */
  readonly newest: Readonly<Record<string, number>>;
  /**
   * `KIND VERSION` for each body, and `KIND ` for runs that have not begun, which any process can
   * begin.
   */
  readonly keys: readonly string[];
  /** By kind, what to say of a run whose body is missing; the version is `{version}`. */
  readonly missing: Readonly<Record<string, string>>;
};

/** What a process with these definitions offers. */
export function offerOf(definitions: Iterable<RunDefinition>): Offer {
  const all = [...definitions];
  const each = <T>(value: (definition: RunDefinition) => T) =>
    Object.fromEntries(all.map((definition) => [definition.kind, value(definition)]));
  return {
    newest: each(newestBody),
    keys: all.flatMap(({ kind, ...rest }) => [
      `${kind} `,
      ...bodiesOf({ kind, ...rest }).map(({ body }) => `${kind} ${body}`),
    ]),
    missing: each((definition) => missingText(definition, "{version}")),
  };
}
