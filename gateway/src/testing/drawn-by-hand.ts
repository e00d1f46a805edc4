import { mock } from "bun:test";

/** An element of a page as it was drawn, with its attributes and its text. */
export type DrawnElement = {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever a component gives an element.
  readonly props: Readonly<Record<string, any>>;
  readonly text: string;
};

/** A component on no page: each look draws it again, with what its hooks have kept. */
export type DrawnByHand = {
  look(): readonly DrawnElement[];
  /** The element of this name that says this, or is labelled so. */
  find(name: string, text: string): DrawnElement;
  /** Takes it off the page. */
  remove(): void;
};

// By a name that is not checked: its types would bring those of browsers into all of our own.
const hooksName: string = "preact/hooks";
const hooks: object = await import(hooksName);

type Held = { readonly cells: unknown[]; next: number };
type Component = (props: unknown) => unknown;
type Node = { readonly type: string | Component; readonly props: Readonly<Record<string, unknown>> };
type Effect = { deps: readonly unknown[] | undefined; end: unknown };

let held: Held = { cells: [], next: 0 };
let begun: (() => void)[] = [];
let ids = 0;

function cell<Value>(make: () => Value): Value {
  const at = held.next++;
  if (!(at in held.cells)) held.cells[at] = make();
  return held.cells[at] as Value;
}

function isSame(one: readonly unknown[] | undefined, other: readonly unknown[] | undefined): boolean {
  return one !== undefined && other?.length === one.length && one.every((value, at) => Object.is(value, other[at]));
}

function useEffect(act: () => unknown, deps?: readonly unknown[]): void {
  const effect = cell<Effect>(() => ({ deps: undefined, end: undefined }));
  if (isSame(effect.deps, deps)) return;
  effect.deps = deps;
  begun.push(() => {
    if (typeof effect.end === "function") effect.end();
    effect.end = act();
  });
}

function useMemo<Value>(make: () => Value, deps: readonly unknown[]): Value {
  const memo = cell(() => ({ deps, value: make() }));
  if (!isSame(memo.deps, deps)) Object.assign(memo, { deps, value: make() });
  return memo.value;
}

const own = {
  useEffect,
  useMemo,
  useCallback: <Act>(act: Act, deps: readonly unknown[]) => useMemo(() => act, deps),
  useRef: <Value>(value: Value) => cell(() => ({ current: value })),
  useId: () => cell(() => `id${ids++}`),
  useState<Value>(first: Value | (() => Value)) {
    const state = cell(() => ({ value: typeof first === "function" ? (first as () => Value)() : first }));
    const set = (next: Value | ((now: Value) => Value)) => {
      state.value = typeof next === "function" ? (next as (now: Value) => Value)(state.value) : next;
    };
    return [state.value, set];
  },
};

/**
 * Draws a component with hooks of our own. Only what `browserByHand` was put in place for before.
 */
export function drawnByHand(component: unknown, props: object): DrawnByHand {
  const kept = new Map<string, Held>();
  const drawn = (node: unknown, place: string, elements: DrawnElement[]): string => {
    if (Array.isArray(node)) return node.map((one, at) => drawn(one, `${place}/${at}`, elements)).join("");
    if (typeof node !== "object" || node === null) return typeof node === "boolean" ? "" : String(node ?? "");
    const { type, props } = node as Node;
    if (typeof type === "function") {
      const name = `${place}/${type.name}`;
      const mine = kept.get(name) ?? { cells: [], next: 0 };
      kept.set(name, mine);
      held = mine;
      held.next = 0;
      return drawn(type(props), name, elements);
    }
    const at = elements.push({ name: type, props, text: "" }) - 1;
    const text = drawn(props.children, `${place}/${type}`, elements);
    elements[at] = { name: type, props, text };
    return text;
  };
  const look = () => {
    mock.module(hooksName, () => ({ ...hooks, ...own }));
    const elements: DrawnElement[] = [];
    drawn({ type: component, props }, "", elements);
    for (const begin of begun.splice(0)) begin();
    return elements;
  };
  return {
    look,
    find(name, text) {
      const found = look().find(
        (one) => one.name === name && (one.text.startsWith(text) || one.props["aria-label"] === text),
      );
      if (found === undefined) throw new Error(`No ${name} says ${text}.`);
      return found;
    },
    remove() {
      for (const { cells } of kept.values())
        for (const one of cells as Partial<Effect>[]) if (typeof one?.end === "function") one.end();
      begun = [];
    },
  };
}
