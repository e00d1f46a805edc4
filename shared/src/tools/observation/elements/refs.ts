import type { Frame } from "playwright";
import type { ElementPlace } from "../looking.ts";

/** An element as it was seen. */
export type SeenElement = ElementPlace & {
  readonly tab: number;
  readonly role: string;
  readonly name: string;
  /** Its name or text, without blanks, which identifies it again. */
  readonly mark: string;
};

/**
 * The refs given to a model. A ref is never given to a second element; a redrawn element counts as
 * the same one.
 */
export interface Refs {
  /** The element's ref: the existing one when it was seen before and still has the same name. */
  give(element: SeenElement): string;
  get(ref: string): SeenElement | undefined;
  /**
   * Whether no ref was given yet: a ref that a model names then belongs to a browser that was
   * closed.
   */
  isEmpty(): boolean;
  /**
   * Moves refs from elements of a document to those that replaced them, by their numbers; `now` is
   * the document these are in, if it is another.
   */
  follow(
    document: Pick<SeenElement, "frame" | "origin"> & { readonly now?: number },
    places: { readonly former: number; readonly now: number; readonly role: string; readonly mark: string },
  ): void;
}

const maxRefs = 30_000;

/** Refs for one conversation, `e1` onwards; the oldest are forgotten. */
export function createRefs(): Refs {
  const elements = new Map<string, SeenElement>();
  const given = new Map<string, string>();
  /** Refs by what they were before: what a model was told may be compared with a later drawing. */
  const moved = new Map<string, string>();
  const frames = new Map<Frame, number>();
  let last = 0;

  type Known = Pick<SeenElement, "frame" | "origin" | "number" | "role" | "mark">;
  const keyOf = ({ frame, origin, number, role, mark }: Known): string => {
    const at = frames.get(frame) ?? frames.size;
    frames.set(frame, at);
    // What is drawn has the classes of its element in its role; they change when it is toggled.
    return `${at} ${origin} ${number} ${/^[^.#[ ]*/.exec(role)?.[0]} ${mark}`;
  };

  return {
    give(element) {
      const key = keyOf(element);
      const known = given.get(key);
      if (known !== undefined && elements.has(known)) {
        elements.set(known, element);
        return known;
      }
      last += 1;
      const ref = `e${last}`;
      elements.set(ref, element);
      given.set(key, ref);
      if (elements.size > maxRefs) forgetOldest(elements, given, moved);
      return ref;
    },
    get: (ref) => elements.get(ref),
    isEmpty: () => last === 0,
    follow({ frame, origin: before, now: origin = before }, { former, now: number, role, mark }) {
      const [key, keyNow] = [
        keyOf({ frame, origin: before, number: former, role, mark }),
        keyOf({ frame, origin, number, role, mark }),
      ];
      const ref = given.get(key) ?? moved.get(key);
      const element = elements.get(ref ?? "");
      if (ref === undefined || element === undefined || given.has(keyNow)) return;
      for (const old of [key, keyOf({ ...element, role, mark })]) given.delete(old);
      moved.set(key, ref);
      given.set(keyNow, ref);
      elements.set(ref, { ...element, origin, number });
    },
  };
}

function forgetOldest(elements: Map<string, SeenElement>, ...refs: readonly Map<string, string>[]): void {
  for (const ref of [...elements.keys()].slice(0, maxRefs / 2)) elements.delete(ref);
  for (const one of refs) for (const [key, ref] of one) if (!elements.has(ref)) one.delete(key);
}
