import type { Page } from "playwright";
import * as z from "zod";
import { holdsValue } from "./item.ts";

const box = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });

/** A node of a page's accessibility outline as Playwright gives it. */
export const ariaNode = z.object({
  role: z.string(),
  name: z.string().default(""),
  text: z.string().optional(),
  ref: z.string().optional(),
  box: box.optional(),
  cursor: z.string().optional(),
  ariaHidden: z.boolean().optional(),
  active: z.boolean().optional(),
  checked: z.union([z.boolean(), z.string()]).optional(),
  pressed: z.union([z.boolean(), z.string()]).optional(),
  invalid: z.union([z.boolean(), z.string()]).optional(),
  disabled: z.boolean().optional(),
  expanded: z.boolean().optional(),
  selected: z.boolean().optional(),
  level: z.number().optional(),
  url: z.string().optional(),
  placeholder: z.string().optional(),
  get children() {
    return z.array(z.union([z.string(), ariaNode])).optional();
  },
});
/** An element of an outline, with its children. */
export type AriaNode = z.output<typeof ariaNode>;
/** Where an element is on the page, in pixels. */
export type AriaBox = z.output<typeof box>;

/**
 * The outline of a page, including those of its frames, as a list of nodes. Refs are Playwright's,
 * valid until the page is outlined again.
 */
export async function outlinePage(page: Page, timeout: number): Promise<readonly (string | AriaNode)[]> {
  const found = await page.ariaSnapshotJSON({ mode: "ai", boxes: true, timeout });
  return z.array(z.union([z.string(), ariaNode])).parse(found);
}

/** The node with one of Playwright's refs, wherever it is among nodes. */
export function nodeWith(nodes: readonly (string | AriaNode)[], ref: string): AriaNode | undefined {
  for (const node of nodes) {
    if (typeof node === "string") continue;
    const found = node.ref === ref ? node : nodeWith(node.children ?? [], ref);
    if (found !== undefined) return found;
  }
  return undefined;
}

const markLength = 100;

/**
 * What identifies an element again: its name, or the beginning of its text, without blanks. A
 * field's value does not identify it.
 */
export function markOf(node: AriaNode): string {
  if (node.name !== "" || holdsValue(node.role)) return squeezed(node.name);
  return squeezed(nodeText(node));
}

/** The beginning of a text without blanks. */
export function squeezed(text: string): string {
  return text.replace(/[\s\u200b]+/g, "").slice(0, markLength);
}

function nodeText(node: AriaNode): string {
  let text = node.text ?? "";
  for (const child of node.children ?? []) {
    if (text.length > 4 * markLength) break;
    text += typeof child === "string" ? child : child.name !== "" ? child.name : nodeText(child);
  }
  return text;
}
