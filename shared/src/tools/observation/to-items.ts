import type { AriaBox, AriaNode } from "./aria-node.ts";
import { markOf } from "./aria-node.ts";
import type { Hider } from "./hider.ts";
import { actsByRole, holdsValue, type Item, isQuiet, nameSaysAll } from "./item.ts";

/** The document that nodes belong to, as far as making items needs it. */
export type Setting = {
  readonly hider: Hider;
  readonly width: number;
  readonly height: number;
  /** The left edge of its frame in the window. */
  readonly left: number;
  readonly top: number;
  /** Gives the ref that a model may use. */
  refOf(element: {
    readonly number: number;
    readonly role: string;
    readonly name: string;
    readonly mark: string;
  }): string;
  /** How an element without words looks. */
  lookOf(number: number): string | undefined;
  /** The nodes and the setting of the document inside an iframe. */
  within(iframe: AriaNode): { readonly nodes: readonly (string | AriaNode)[]; readonly setting: Setting } | undefined;
};

/**
 * The nodes of a page as a reader is shown them: nodes that say nothing are left out, what nobody
 * can see is hidden.
 */
export function toItems(nodes: readonly (string | AriaNode)[], setting: Setting, away = 0): Item[] {
  const items = nodes.flatMap((node) => {
    if (typeof node === "string") return textItems(node, setting, away);
    const inner = nodeItems(node, setting, away);
    const isRow = (isDrawnRow(node, nodes) && fitsRow(inner)) || (isOneOfMany(node, nodes) && fitsCard(inner));
    return isRow ? [rowItem(node, inner, setting)] : inner;
  });
  return withoutLabels(items);
}

/**
 * The items without the words beside a field that only name it, also where a link stands among them
 * or they can be clicked: the link stays.
 */
function withoutLabels(items: readonly Item[]): Item[] {
  const labels = new Set<Item>();
  for (const [at, { role }] of items.entries())
    if (holdsValue(role)) for (const step of [-1, 1]) for (const part of labelOf(items, at, step)) labels.add(part);
  return items.flatMap((item) => {
    if (!labels.has(item) || !/^(?:text|clickable)$/.test(item.role)) return [item];
    return item.children.filter(({ acts }) => acts);
  });
}

/** What stands before or after a field and has, together, the words of its name. */
function labelOf(items: readonly Item[], at: number, step: number): readonly Item[] {
  const wanted = squeezed(items[at]?.name ?? "");
  const parts: Item[] = [];
  let found = "";
  for (let next = items[at + step]; next !== undefined && wanted !== ""; next = items[at + step * (parts.length + 1)]) {
    if (holdsValue(next.role)) return [];
    found = step > 0 ? found + wordsOf(next) : wordsOf(next) + found;
    if (step > 0 ? !wanted.startsWith(found) : !wanted.endsWith(found)) return [];
    parts.push(next);
    if (found === wanted) return parts;
  }
  return [];
}

function wordsOf({ name, text, children }: Item): string {
  return squeezed(name) + squeezed(text) + children.map(wordsOf).join("");
}

function squeezed(words: string): string {
  return words.replaceAll(/\s+/g, "");
}

const fewestAlike = 3;
const fewestCells = 3;
const mostCells = 12;

/** Whether a box without a role is drawn as a row: its parts on one line, with others like it. */
function isDrawnRow(node: AriaNode, siblings: readonly (string | AriaNode)[]): boolean {
  const { children = [] } = node;
  const boxes = children.flatMap((child) => (typeof child === "string" || isEmpty(child.box) ? [] : [child.box]));
  const top = Math.max(...boxes.map(([, y]) => y));
  const bottom = Math.min(...boxes.map(([, y, , height]) => y + height));
  return boxes.length >= fewestCells && top < bottom && isOneOfMany(node, siblings);
}

/** Whether it is a box of several parts without a role, with others like it beside it. */
function isOneOfMany(
  { role, name, cursor, children = [] }: AriaNode,
  siblings: readonly (string | AriaNode)[],
): boolean {
  if (role !== "generic" || name !== "" || cursor === "pointer" || children.length < fewestCells) return false;
  const isAlike = (one: string | AriaNode) =>
    typeof one !== "string" && one.role === role && one.children?.length === children.length;
  return siblings.filter(isAlike).length >= fewestAlike;
}

function fitsRow(inner: readonly Item[]): boolean {
  const isText = ({ role }: Item) => role === "text";
  const isFull = inner.length >= fewestCells && inner.length <= mostCells;
  return isFull && inner.filter(isText).length > 1 && inner.every(({ children }) => children.length === 0);
}

const mostCharacters = 200;

/**
 * Whether a box drawn as a card, such as a product with its price and a button, is short enough for
 * a line: so its button stands beside what it is about.
 */
function fitsCard(inner: readonly Item[]): boolean {
  const isShort = inner.reduce((sum, { name, text }) => sum + name.length + text.length, 0) <= mostCharacters;
  const isCard = inner.some(({ role }) => role === "text") && inner.some(({ acts }) => acts);
  const isPlain = inner.every(({ children, role }) => children.length === 0 && !holdsValue(role));
  return isCard && isShort && isPlain && inner.length >= fewestCells && inner.length <= mostCells;
}

function rowItem({ box, ref: number, role, name, ...node }: AriaNode, children: Item[], setting: Setting): Item {
  const mark = markOf({ box, role, name, ...node });
  const ref = number === undefined ? undefined : setting.refOf({ number, role, name, mark });
  const away = awayOf(box, setting);
  return { role: "row", name: "", text: "", states: [], ref, acts: false, away, url: undefined, children };
}

function textItems(value: string, { hider }: Setting, away: number, ref?: string): Item[] {
  const text = hider.text(value);
  if (text === "") return [];
  return [{ role: "text", name: "", text, states: [], ref, acts: false, away, url: undefined, children: [] }];
}

function nodeItems(node: AriaNode, setting: Setting, outer: number): Item[] {
  const away = isEmpty(node.box) ? outer : awayOf(node.box, setting);
  const acts = actsByRole(node.role) || node.cursor === "pointer" || (node.role === "generic" && node.name !== "");
  const { ref: number, role } = node;
  const ref = number === undefined ? undefined : setting.refOf({ number, role, name: node.name, mark: markOf(node) });
  const inside = role === "iframe" ? setting.within(node) : { nodes: node.children ?? [], setting };
  const inner = inside === undefined ? [] : toItems(inside.nodes, inside.setting, away);
  const text = node.text === undefined ? "" : setting.hider.text(node.text);
  if (isQuiet(node.role) && !acts && node.ariaHidden !== true) {
    if (inner.length === 0) return textItems(node.text ?? node.name, setting, away, ref);
    const joined =
      node.role === "generic" || !inner.every(({ role }) => role === "text") ? undefined : joinTexts(inner);
    return joined === undefined ? inner : textItems(joined, setting, away, ref);
  }
  const label = setting.hider.label(node.name);
  const children = nameSaysAll(node.role) && label.text !== "" ? inner.filter((item) => item.acts) : inner;
  const look =
    acts && label.text === "" && text === "" && children.length === 0 ? setting.lookOf(number ?? 0) : undefined;
  const states = statesOf(node, label.unseen);
  if (node.role === "generic" && label.text === "" && text === "" && children.length === 1 && isBox(children[0]))
    return children;
  if (node.role === "gridcell" && node.cursor !== "pointer" && label.text === "" && text === "") {
    const [only, ...others] = children;
    if (only?.acts === true && others.length === 0)
      return [{ ...only, states: [...new Set([...states, ...only.states])] }];
    if (states.length === 0 && children.length > 0 && children.every((item) => item.acts)) return children;
  }
  if (!acts && ref === undefined && label.text === "" && text === "" && children.length === 0) return [];
  return [
    {
      role: node.role === "generic" ? (node.cursor === "pointer" ? "clickable" : "group") : node.role,
      name: node.role === "row" && children.length > 0 ? "" : label.text,
      text: look ?? (text === label.text ? "" : text),
      states,
      ref,
      acts,
      away,
      url: node.url,
      children,
    },
  ];
}

/** Whether it is a box to check, which what is around it checks too. */
function isBox(item: Item | undefined): boolean {
  return item !== undefined && /^(?:checkbox|radio|switch)$/.test(item.role);
}

function joinTexts(items: readonly Item[]): string {
  return items.map(({ text }) => text).join(" ");
}

function isEmpty([, , width, height]: AriaBox): boolean {
  return width === 0 && height === 0;
}

function awayOf([boxLeft, boxTop, boxWidth, boxHeight]: AriaBox, { left, top, width, height }: Setting): number {
  const x = boxLeft + left;
  const y = boxTop + top;
  return Math.max(0, y - height, -(y + boxHeight), x - width, -(x + boxWidth));
}

function statesOf(node: AriaNode, unseen: boolean): string[] {
  const states: string[] = [];
  if (node.readOnly === true) states.push("read-only");
  if (node.level !== undefined) states.push(`level ${node.level}`);
  for (const name of ["checked", "pressed", "invalid"] as const) {
    const value = node[name];
    if (value === undefined) continue;
    states.push(value === true ? name : `${name}: ${value}`);
  }
  if (node.selected === true) states.push("selected");
  if (node.disabled === true) states.push("disabled");
  if (node.modal === true) states.push("modal");
  if (node.expanded === true) states.push("expanded");
  if (node.active === true && node.role !== "generic") states.push("focused");
  if (node.ariaHidden === true) states.push("aria-hidden");
  if (unseen) states.push("label not visible");
  if (node.placeholder !== undefined && holdsValue(node.role))
    states.push(`placeholder "${node.placeholder.slice(0, 60)}"`);
  return states;
}
