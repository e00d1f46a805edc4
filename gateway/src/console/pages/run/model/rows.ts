import { type CallItem, endOf, failureOf, type RunItem, type TreeItem } from "./items.ts";

/** A row of the tree as it is shown. */
export type Row = {
  readonly item: TreeItem;
  readonly depth: number;
  readonly parent: TreeItem | undefined;
  /** The calls that this row stands for, `item` the first: the same call made again and again. */
  readonly repeats?: readonly CallItem[];
  /** Whether the repeated calls have rows of their own below it. */
  readonly opened?: boolean;
};

/** Which rows are there: runs that are folded, repeated calls that are opened, what is chosen. */
export type ShownRows = {
  readonly folded: ReadonlySet<string>;
  readonly opened?: ReadonlySet<string>;
  readonly chosen?: string | undefined;
};

/**
 * The rows of a tree from top to bottom, without what is folded. A run that does nothing but pass a
 * task on to the agent of its name is shown as that agent's.
 */
export function rowsOf(root: RunItem, { folded, opened, chosen }: ShownRows): readonly Row[] {
  const rows: Row[] = [];
  const add = (item: TreeItem, depth: number, parent: TreeItem | undefined) => {
    const shown = passedOn(item);
    rows.push({ item: shown, depth, parent });
    if (shown.kind !== "run" || folded.has(shown.key)) return;
    for (let at = 0; at < shown.children.length; ) {
      const repeats = repeatsAt(shown.children, at);
      const [first] = repeats;
      if (first !== undefined && repeats.length > 1) addRepeats(first, repeats, depth + 1, shown);
      else {
        const child = shown.children[at];
        if (child !== undefined) add(child, depth + 1, shown);
      }
      at += Math.max(1, repeats.length);
    }
  };
  const addRepeats = (first: CallItem, repeats: readonly CallItem[], depth: number, parent: TreeItem) => {
    const isOpen = opened?.has(first.key) === true || repeats.slice(1).some(({ key }) => key === chosen);
    rows.push({ item: first, depth, parent, repeats, opened: isOpen });
    if (isOpen) for (const item of repeats.slice(1)) rows.push({ item, depth: depth + 1, parent: first });
  };
  add(root, 0, undefined);
  return rows;
}

/** The call at a place with those after it that ask for just the same. */
function repeatsAt(children: readonly TreeItem[], at: number): readonly CallItem[] {
  const first = children[at];
  if (first?.kind !== "call") return [];
  const repeats = [first];
  // Arguments that arrived shortened cannot be compared.
  for (let next = children[at + 1]; next?.kind === "call" && first.started.cut === undefined; ) {
    if (next.name !== first.name || argumentsOf(next) !== argumentsOf(first)) break;
    repeats.push(next);
    next = children[at + repeats.length];
  }
  return repeats;
}

/** What a row of the tree has room for. */
const shownTitle = (text: string): string => text.trim().replace(/\s+/g, " ").slice(0, 80);

/**
 * What a run of the tree is called: what it was given, or its name where that does not tell it from
 * what asked it and from the others that were asked.
 */
export function titleIn({ item, depth, parent }: Row): string {
  if (item.kind === "call" || depth === 0 || item.title === "") return item.name;
  const title = shownTitle(item.title);
  const others = parent?.kind === "run" ? [parent, ...parent.children] : [];
  const isTold = others.some((one) => one.kind === "run" && one !== item && shownTitle(one.title) === title);
  return isTold ? item.name : title;
}

/** Why the item of a row failed, or one of the calls it stands for; undefined if none did. */
export function failureIn({ item, repeats, opened }: Row): string | undefined {
  const stands = opened === true ? [item] : (repeats ?? [item]);
  return stands.map(failureOf).find((failure) => failure !== undefined);
}

/** The run that an item only passes its task on to, or the item. */
function passedOn(item: TreeItem): TreeItem {
  if (item.kind !== "run" || item.replies.length > 0 || item.children.length !== 1) return item;
  const [only] = item.children;
  return only?.kind === "run" && only.name === item.name && !only.elsewhere ? only : item;
}

/** What rows say when they match a search: name, arguments and result. */
export function matches({ item, repeats }: Row, find: string): boolean {
  const said =
    item.kind === "run"
      ? [item.name, item.title]
      : [item.name, argumentsOf(item), ...(repeats ?? [item]).map((call) => resultOf(call))];
  return said.join("\n").toLowerCase().includes(find.toLowerCase());
}

/** The arguments of a call as the model wrote them. */
export function argumentsOf({ started }: CallItem): string {
  const { event } = started;
  return event.type === "tool-started" && "arguments" in event ? event.arguments : "";
}

/** The result of a call as the model read it; empty while it runs. */
export function resultOf({ ended }: CallItem): string {
  const event = ended?.event;
  return event?.type === "tool-ended" && "isError" in event ? event.text : "";
}

/** The arguments as an object, if they are one and are not shortened. */
export function readArguments(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const telling = ["command", "path", "url", "sql", "query", "inquire", "code", "text", "task", "request"];

/** The one argument that says most of what a call is about. */
export function hintOf(call: CallItem): string {
  const text = argumentsOf(call);
  const given = readArguments(text);
  for (const name of telling) {
    const value = given[name];
    if (typeof value === "string" && value !== "" && name !== "command") return value;
    if (name === "command" && typeof value === "string" && !editing.test(value)) return value;
  }
  return "";
}

const editing = /^(view|create|str_replace|insert|undo_edit|list|get|update|mark_step|set_active|delete)$/;

/** The stretch of time that the rows take up. */
export function extentOf(root: RunItem, now: number): { readonly from: number; readonly to: number } {
  const from = root.started ?? now;
  let to = endOf(root) ?? now;
  const look = (item: TreeItem) => {
    to = Math.max(to, endOf(item) ?? from);
    if (item.kind === "run") for (const child of item.children) look(child);
  };
  look(root);
  return { from, to: Math.max(to, from + 1) };
}

/** All calls below an item, in the order of the tree. */
export function callsOf(item: TreeItem): readonly CallItem[] {
  return item.kind === "call" ? [item] : item.children.flatMap(callsOf);
}
