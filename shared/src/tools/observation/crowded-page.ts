import type { Page } from "playwright";
import { squeezed } from "./aria-node.ts";
import { findNearElements, type NearElement } from "./in-page/find-near-elements.ts";
import type { PageMeasure } from "./in-page/measure-page.ts";
import { actsByRole, type Item } from "./item.ts";
import type { SnapshotState } from "./snapshot-state.ts";
import { listOf } from "./snapshot-state.ts";
import { createHider, unseenTextOf } from "./unseen-text.ts";

const mostItems = 200;

/**
 * The elements in the window of a page too large to be outlined, or those with a text: a flat list
 * whose cost hardly depends on the page's size. Roles and names are simpler than in an outline.
 */
export async function crowdedItems(
  page: Page,
  looks: SnapshotState,
  { tab, measure, text }: { readonly tab: number; readonly measure: PageMeasure; readonly text?: string },
): Promise<{ readonly items: Item[]; readonly unseen: number }> {
  const { origin, height } = measure;
  const list = await listOf(page, looks, `${tab} ${origin}`);
  const found = await list.evaluate(findNearElements, { text, most: mostItems });
  const numbers = found.map(({ number }) => number);
  const unseen = await unseenTextOf(page, { list, numbers });
  const hider = createHider(unseen, measure.passwords);
  const frame = page.mainFrame();
  const items = found.flatMap((element): Item[] => {
    const role = roleOf(element);
    const { name, number } = element;
    const where = { by: "list", list, number } as const;
    const ref = looks.refs.give({ tab, frame, origin, where, role, name, mark: squeezed(name) });
    const acts = actsByRole(role);
    const label = acts ? hider.label(name) : { text: hider.text(name), unseen: false };
    if (label.text === "" && name !== "") return [];
    return [
      {
        role,
        name: acts ? label.text : "",
        text: acts ? element.value : label.text,
        states: [...element.states, ...(label.unseen ? ["label not visible"] : [])],
        ref,
        acts,
        away: Math.max(0, element.top - height, -element.bottom),
        url: undefined,
        children: [],
      },
    ];
  });
  return { items, unseen: unseen.length };
}

const roles: Readonly<Record<string, string>> = {
  a: "link",
  button: "button",
  select: "combobox",
  textarea: "textbox",
  summary: "button",
  iframe: "iframe",
  checkbox: "checkbox",
  radio: "radio",
  submit: "button",
  reset: "button",
  range: "slider",
  number: "spinbutton",
};

function roleOf({ role, tag, type }: NearElement): string {
  if (role !== "") return role;
  if (tag === "input") return roles[type] ?? "textbox";
  return /^h[1-6]$/.test(tag) ? "heading" : (roles[tag] ?? "text");
}
