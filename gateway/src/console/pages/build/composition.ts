import type { ListedFlow } from "../../api/catalog.ts";
import { type Entered, enteredOf, readOptions } from "../../parts/option-fields.tsx";

/** The patterns that flows are composed of, in the order they are shown. */
export const patterns = ["sequential", "parallel", "conditional", "loop", "debate", "planning"] as const;

/** A flow that others are composed of. */
export type Pattern = (typeof patterns)[number];

/** One agent in a flow, and what it does there; texts are as typed. */
export type Member = {
  readonly id: number;
  readonly agent: string;
  readonly instruction: string;
  /** The name of a branch. */
  readonly name: string;
  readonly when: string;
  readonly position: string;
};

/** A flow as it stands in the form. */
export type CompositionDraft = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly pattern: Pattern;
  readonly members: readonly Member[];
  /** What a loop is checked by. */
  readonly criteria: string;
  readonly options: Entered;
};

/** A composed flow as the API takes it. */
export type Composition = {
  readonly flow: string;
  readonly title?: string;
  readonly description?: string;
  readonly agents?: readonly string[];
  readonly options?: Readonly<Record<string, unknown>>;
};

/** The fields of a member that a pattern uses. */
export const memberFields: Readonly<Record<Pattern, readonly ("name" | "when" | "position" | "instruction")[]>> = {
  sequential: ["instruction"],
  parallel: ["instruction"],
  conditional: ["name", "when", "instruction"],
  loop: ["instruction"],
  debate: ["position"],
  planning: [],
};

/** The options that the form sets by its own fields. */
const ownOptions = ["steps", "branches", "agent", "instruction", "until", "positions"];

/** The options of a pattern that are left for the form's second part. */
export function otherOptions(pattern: Pattern, flows: readonly ListedFlow[]) {
  const schemas = flows.find(({ name }) => name === pattern)?.options?.properties ?? {};
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => !ownOptions.includes(name)));
}

const last = { id: 0 };

/** A member for this agent. */
export function newMember(agent: string, rest: Partial<Member> = {}): Member {
  last.id += 1;
  return { agent, instruction: "", name: "", when: "", position: "", ...rest, id: last.id };
}

/** The draft as the API takes it. Throws an Error that names an option whose JSON is invalid. */
export function compose(draft: CompositionDraft, flows: readonly ListedFlow[]): Composition {
  const { pattern, title, description, members } = draft;
  const more = readOptions(otherOptions(pattern, flows), draft.options);
  const options = { ...ownOptionsOf(draft), ...more };
  return {
    flow: pattern,
    ...(title.trim() !== "" && { title: title.trim() }),
    ...(description.trim() !== "" && { description: description.trim() }),
    ...(pattern === "planning" && members.length > 0 && { agents: members.map(({ agent }) => agent) }),
    ...(Object.keys(options).length > 0 && { options }),
  };
}

function ownOptionsOf({ pattern, members, criteria }: CompositionDraft): Record<string, unknown> {
  const assigned = members.map(({ agent, instruction }) => ({ agent, ...set({ instruction }) }));
  if (pattern === "sequential") return { steps: assigned };
  if (pattern === "parallel") return { branches: assigned };
  if (pattern === "conditional")
    return {
      branches: members.map(({ agent, name, when, instruction }) => ({
        name: name.trim() || agent,
        agent,
        ...set({ when, instruction }),
      })),
    };
  if (pattern === "debate")
    return { positions: members.map(({ agent, position }) => ({ agent, position: position.trim() })) };
  if (pattern === "planning") return {};
  const until = criteria.trim() === "" ? {} : { until: { by: "model", criteria: criteria.trim() } };
  return { ...assigned[0], ...until };
}

/** The texts that are not empty. */
function set(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(texts).flatMap(([key, text]) => (text.trim() === "" ? [] : [[key, text.trim()]])),
  );
}

type Given = { readonly [key: string]: unknown };

/** A saved flow in the form. What the form has no field for stays among the options. */
export function draftOf(
  name: string,
  { flow, title = "", description = "", agents = [], options = {} }: Composition,
  flows: readonly ListedFlow[],
): CompositionDraft {
  const pattern = patterns.find((one) => one === flow) ?? "planning";
  const listed = options.steps ?? options.branches ?? options.positions;
  const given = Array.isArray(listed) ? (listed as Given[]) : [];
  const one = typeof options.agent === "string" ? [options as Given] : [];
  const texts = (from: Given) =>
    Object.fromEntries(
      ["instruction", "name", "when", "position"].map((key) => [key, typeof from[key] === "string" ? from[key] : ""]),
    );
  const members = [...given, ...one].map((from) => newMember(String(from.agent ?? ""), texts(from) as Partial<Member>));
  const schemas = otherOptions(pattern, flows);
  const others = Object.fromEntries(Object.entries(options).filter(([key]) => Object.hasOwn(schemas, key)));
  const { criteria } = (options.until ?? {}) as { criteria?: unknown };
  return {
    ...{ name, title, description, pattern },
    members: members.length > 0 ? members : agents.map((agent) => newMember(agent)),
    criteria: typeof criteria === "string" ? criteria : "",
    options: enteredOf(schemas, others),
  };
}

/** What the form cannot show of a saved flow, which saving it from here would lose. */
export function isBeyondForm(composition: Composition, flows: readonly ListedFlow[]): boolean {
  const again = compose(draftOf("x", composition, flows), flows);
  return sorted(again) !== sorted(composition);
}

/** The same value as text whatever the order of its keys. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => a.localeCompare(b)))
      : inner,
  );
}
