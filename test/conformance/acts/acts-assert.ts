import type { ActsStream } from "./acts-suite.ts";

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const typeOf = (value: unknown) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);
const sizeOf = (value: unknown) => (Array.isArray(value) ? value.length : Number.NaN);

/** The operators of ACTS (section 5.4); each says whether a value passes. */
const operators: Readonly<Record<string, (value: unknown, wanted: never) => boolean>> = {
  type: (value, wanted: string) => typeOf(value) === wanted,
  exists: (value) => value !== undefined,
  absent: (value) => value === undefined,
  contains: (value, wanted: string) => typeof value === "string" && value.includes(wanted),
  matches: (value, wanted: string) => typeof value === "string" && new RegExp(wanted).test(value),
  starts_with: (value, wanted: string) => typeof value === "string" && value.startsWith(wanted),
  ends_with: (value, wanted: string) => typeof value === "string" && value.endsWith(wanted),
  gte: (value, wanted: number) => typeof value === "number" && value >= wanted,
  lte: (value, wanted: number) => typeof value === "number" && value <= wanted,
  count: (value, wanted: number) => sizeOf(value) === wanted,
  count_gte: (value, wanted: number) => sizeOf(value) >= wanted,
  count_lte: (value, wanted: number) => sizeOf(value) <= wanted,
  items: (value, wanted: unknown) =>
    Array.isArray(wanted) ? passes(value, wanted) : Array.isArray(value) && value.every((one) => passes(one, wanted)),
  one_of: (value, wanted: readonly unknown[]) => wanted.some((one) => passes(value, one)),
  any_of: (value, wanted: readonly unknown[]) => wanted.some((one) => passes(value, one)),
  all_of: (value, wanted: readonly unknown[]) => wanted.every((one) => passes(value, one)),
  not: (value, wanted: unknown) => !passes(value, wanted),
};

const passes = (value: unknown, wanted: unknown) => faultsOf(value, wanted).length === 0;

/** What of a value is not as an assertion wants it, each with its place. */
export function faultsOf(value: unknown, wanted: unknown, place = ""): string[] {
  const fault = () => [
    `${place || "the answer"} is ${JSON.stringify(value)?.slice(0, 200)}, not ${JSON.stringify(wanted)}`,
  ];
  if (Array.isArray(wanted)) return wanted.flatMap((one, n) => faultsOf(fieldOf(value, n), one, `${place}[${n}]`));
  if (!isObject(wanted)) return value === wanted ? [] : fault();
  const names = Object.keys(wanted);
  if (names.length > 0 && names.every((name) => isOperator(name, wanted[name])))
    return names.every((name) => operators[name]?.(value, wanted[name] as never) === true) ? [] : fault();
  return names.flatMap((name) =>
    faultsOf(fieldOf(value, name), wanted[name], place === "" ? name : `${place}.${name}`),
  );
}

/**
 * `type` and `not` may be fields of a message, too; those of operators have values of their kind.
 */
function isOperator(name: string, wanted: unknown): boolean {
  return Object.hasOwn(operators, name) && !(name !== "not" && name !== "items" && isObject(wanted));
}

function fieldOf(value: unknown, name: string | number): unknown {
  return typeof value === "object" && value !== null ? (value as Fields)[name] : undefined;
}

/** The value at a dot-path such as `task.artifacts[0].parts`. */
export function valueAt(value: unknown, path: string): unknown {
  return path.split(/\.|\[|\]\.?/).reduce((at, name) => (name === "" ? at : fieldOf(at, name)), value);
}

/** Whether a condition such as `status.state in [A, B]` holds. */
export function holds(value: unknown, condition: string): boolean {
  const [, path = "", operator, wanted = ""] = /^(\S+)\s+(==|!=|in)\s+(.*)$/.exec(condition) ?? [];
  const values = wanted
    .replace(/^\[|\]$/g, "")
    .split(",")
    .map((one) => one.trim());
  return values.includes(String(valueAt(value, path))) === (operator !== "!=");
}

const terminal = /COMPLETED|FAILED|CANCELED|REJECTED/;

/**
 * What of a stream's events is not as expected. Each event has its payload's fields, and itself
 * under its name.
 */
export function streamFaults(events: readonly Fields[], wanted: ActsStream): string[] {
  const { min_count: least = 0, max_count: most = Number.POSITIVE_INFINITY } = wanted;
  const faults: string[] = [];
  if (events.length < least || events.length > most) faults.push(`${events.length} events`);
  if (wanted.ordering !== undefined) {
    const states = events.map((event) => String(valueAt(event, "status.state") ?? "")).filter((state) => state !== "");
    states.forEach((state, n) => {
      const before = states[n - 1] ?? "";
      const isBack = n > 0 && state === "TASK_STATE_SUBMITTED" && before !== state;
      if (isBack || (terminal.test(before) && before !== state)) faults.push(`${state} after ${before}`);
    });
  }
  for (const { description: _, match, index, ...assertion } of wanted.events ?? []) {
    const found =
      match === "any_position" || index === undefined
        ? events.some((event) => passes(event, assertion))
        : passes(events[index as number], assertion);
    if (!found) faults.push(`no event is ${JSON.stringify(assertion)}`);
  }
  if (wanted.final_event !== undefined) faults.push(...faultsOf(events.at(-1), wanted.final_event, "the last event"));
  if (wanted.each_event !== undefined)
    faults.push(...events.flatMap((event) => faultsOf(event, wanted.each_event, "an event")));
  return faults;
}
