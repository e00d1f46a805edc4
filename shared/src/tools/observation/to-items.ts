import type { AriaBox, AriaNode } from "./aria-node.ts";
import { markOf } from "./aria-node.ts";
import type { FieldFacts } from "./in-page/find-fields.ts";
import { actsByRole, holdsValue, type Item, isQuiet, nameSaysAll, showsValue } from "./item.ts";
import type { Hider } from "./unseen-text.ts";

/** The document that nodes belong to, as far as making items needs it. */
export type Setting = {
  readonly hider: Hider;
  readonly width: number;
  readonly height: number;
  /** The left edge of its frame in the window. */
  readonly left: number;
  readonly top: number;
  /** Gives the ref that a model may use. */
  refOf(element: { readonly ref: string; readonly role: string; readonly name: string; readonly mark: string }): string;
  /** What the document itself reports about the field in a box. */
  fieldIn(box: AriaBox): FieldFacts | undefined;
  /** How an element without words looks. */
  lookOf(box: AriaBox | undefined): string | undefined;
  /** The setting of the document inside an iframe. */
  within(iframe: AriaNode): Setting | undefined;
};

/**
 * The nodes of a page as a reader is shown them: nodes that say nothing are left out, what nobody
 * can see is hidden.
 */
export function toItems(nodes: readonly (string | AriaNode)[], setting: Setting, away = 0): Item[] {
  const items = nodes.flatMap((node) =>
    typeof node === "string" ? textItems(node, setting, away) : nodeItems(node, setting, away),
  );
  return items.filter((item, index) => !isLabel(item, items[index - 1]) && !isLabel(item, items[index + 1]));
}

/** Whether a text only names the field beside it. */
function isLabel({ role, text }: Item, neighbour: Item | undefined): boolean {
  return role === "text" && neighbour !== undefined && holdsValue(neighbour.role) && neighbour.name === text;
}

function textItems(value: string, { hider }: Setting, away: number, ref?: string): Item[] {
  const text = hider.text(value);
  if (text === "") return [];
  return [{ role: "text", name: "", text, states: [], ref, acts: false, away, url: undefined, children: [] }];
}

function nodeItems(node: AriaNode, setting: Setting, outer: number): Item[] {
  const away = node.box === undefined || isEmpty(node.box) ? outer : awayOf(node.box, setting);
  const acts = actsByRole(node.role) || node.cursor === "pointer" || (node.role === "generic" && node.name !== "");
  const mark = markOf(node);
  const ref =
    node.ref === undefined ? undefined : setting.refOf({ ref: node.ref, role: node.role, name: node.name, mark });
  const inside = node.role === "iframe" ? setting.within(node) : setting;
  const inner = inside === undefined ? [] : toItems(node.children ?? [], inside, away);
  const field =
    node.box !== undefined && (holdsValue(node.role) || showsValue(node.role)) ? setting.fieldIn(node.box) : undefined;
  const edged = field?.value.startsWith('"') === true ? field.value : undefined;
  const value = edged ?? node.text ?? (inner.length === 0 ? field?.value : undefined);
  const text = value === undefined ? "" : setting.hider.text(value);
  if (isQuiet(node.role) && !acts && node.ariaHidden !== true) {
    if (inner.length === 0) return textItems(node.text ?? node.name, setting, away, ref);
    const joined =
      node.role === "generic" || !inner.every(({ role }) => role === "text") ? undefined : joinTexts(inner);
    return joined === undefined ? inner : textItems(joined, setting, away, ref);
  }
  const label = setting.hider.label(node.name);
  const children = nameSaysAll(node.role) && label.text !== "" ? inner.filter((item) => item.acts) : inner;
  const look = acts && label.text === "" && text === "" && children.length === 0 ? setting.lookOf(node.box) : undefined;
  if (!acts && ref === undefined && label.text === "" && text === "" && children.length === 0) return [];
  return [
    {
      role: node.role === "generic" ? (node.cursor === "pointer" ? "clickable" : "group") : node.role,
      name: node.role === "row" && children.length > 0 ? "" : label.text,
      text: look ?? (text === label.text ? "" : text),
      states: [...(field?.readOnly === true ? ["read-only"] : []), ...statesOf(node, label.unseen)],
      ref,
      acts,
      away,
      url: node.url,
      children,
    },
  ];
}

function joinTexts(items: readonly Item[]): string {
  return items.map(({ text }) => text).join(" ");
}

function isEmpty({ width, height }: AriaBox): boolean {
  return width === 0 && height === 0;
}

function awayOf(box: AriaBox, { left, top, width, height }: Setting): number {
  const x = box.x + left;
  const y = box.y + top;
  return Math.max(0, y - height, -(y + box.height), x - width, -(x + box.width));
}

function statesOf(node: AriaNode, unseen: boolean): string[] {
  const states: string[] = [];
  if (node.level !== undefined) states.push(`level ${node.level}`);
  for (const name of ["checked", "pressed", "invalid"] as const) {
    const value = node[name];
    if (value === undefined || value === false) continue;
    states.push(value === true ? name : `${name}: ${value}`);
  }
  if (node.selected === true) states.push("selected");
  if (node.disabled === true) states.push("disabled");
  if (node.expanded !== undefined) states.push(node.expanded ? "expanded" : "collapsed");
  if (node.active === true && node.role !== "generic") states.push("focused");
  if (node.ariaHidden === true) states.push("aria-hidden");
  if (unseen) states.push("label not visible");
  if (node.placeholder !== undefined && holdsValue(node.role))
    states.push(`placeholder "${node.placeholder.slice(0, 60)}"`);
  return states;
}
