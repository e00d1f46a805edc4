import type { AriaNode } from "../../aria-node.ts";
import { holdsEntries } from "./names.ts";

/** What an outline consists of: texts, and elements. */
export type OutlineChild = string | AriaNode;

/** What is in an element, and around it. */
export type NodeContent = {
  readonly children: readonly OutlineChild[];
  /** Whether its name was made of what is in it. */
  readonly isContent: boolean;
  /** Whether it is the outermost element that is clickable. */
  readonly isTarget: boolean;
  /** What is written in it. */
  readonly value: string | undefined;
  /** The name of the element around it. */
  readonly around: string;
};

/** Runs in the page: texts beside each other as one, without blanks that are not drawn. */
export function mergedTexts(children: readonly OutlineChild[]): OutlineChild[] {
  const all: OutlineChild[] = [];
  let text = "";
  const flush = () => {
    const plain = text === "" ? "" : text.replace(/[\s\u200b\u00ad]+/g, " ").trim();
    if (plain !== "") all.push(plain);
    text = "";
  };
  for (const child of children) {
    if (typeof child === "string") text += child;
    else {
      flush();
      all.push(child);
    }
  }
  flush();
  return all;
}

/**
 * Runs in the page: a node with what is in it, unless it says nothing; what is in it instead, if
 * that is all it says.
 */
export function finishedNode(node: AriaNode, content: NodeContent): OutlineChild[] {
  const { role, name, active } = node;
  const { children, isContent, isTarget, value, around } = content;
  const [only] = children.length === 1 ? children : [];
  if (role === "generic" && name === "") {
    const isGeneric = typeof only === "object" && only.role === "generic" && only.name === "";
    const text = isGeneric ? only.text : typeof only === "string" ? only : undefined;
    if (text !== undefined) return text === around && !active ? [] : [{ ...node, text }];
    if (children.length === 0) return isTarget ? [node] : [];
    return typeof only === "object" && only.ref !== undefined ? [only] : [{ ...node, children }];
  }
  if (children.length === 0) {
    if (role === "img" && name === "" && !isTarget) return [];
    if (role === "generic" && name === around && !active) return [];
  }
  const says = isContent && !isIdentified(role) && sayAll(children) ? "" : name;
  const isSlider = role === "slider" && typeof only !== "object";
  const text = children.length === 0 || isSlider ? value : typeof only === "string" ? only : undefined;
  if (text !== undefined) return [{ ...node, name: says, ...(text !== "" && text !== says && { text }) }];
  return [{ ...node, name: says, ...(children.length > 0 && { children }) }];
}

/**
 * Runs in the page: whether the elements in an element, of whose content its name was made, say
 * their parts of it themselves.
 */
export function sayAll(children: readonly OutlineChild[]): boolean {
  const nodes = children.filter((child) => typeof child === "object").filter(({ role }) => !holdsEntries(role));
  return (
    nodes.length > 0 &&
    nodes.every(
      ({ ref, role, name, children: inner = [] }) =>
        ref !== undefined && (role !== "generic" || name !== "" || sayAll(inner)),
    )
  );
}

/**
 * Runs in the page: whether the name of a role tells it from others of its kind, even where it
 * repeats what is in it.
 */
export function isIdentified(role: string): boolean {
  return /^(?:alertdialog|dialog|banner|complementary|contentinfo|form|main|navigation|region|search|application|document|figure|group|grid|listbox|menu|menubar|radiogroup|tablist|tabpanel|toolbar|tree|treegrid|table|columnheader|rowheader)$/.test(
    role,
  );
}

/**
 * Runs in the page: of clickable elements within each other, only the outermost is marked as such.
 */
export function withoutInnerPointers(child: OutlineChild, inPointer: boolean): OutlineChild {
  if (typeof child === "string") return child;
  const { cursor, children } = child;
  const isPointer = cursor === "pointer" && !inPointer;
  const inner = children?.map((one) => withoutInnerPointers(one, inPointer || cursor === "pointer"));
  return { ...child, cursor: isPointer ? cursor : undefined, ...(inner && { children: inner }) };
}
