import type { ElementHandle, Page } from "playwright";
import { describeElement, type ElementSelf } from "../in-page/describe-element.ts";
import { findNearElements } from "../in-page/find-near-elements.ts";
import type { PageMeasure } from "../in-page/measure-page.ts";
import type { Refs } from "../refs.ts";
import { squeezed } from "./element-mark.ts";
import { actsByRole, type Item } from "./item.ts";

const mostItems = 150;

/**
 * The elements in the window of a page too large to be outlined, or those with a text: a flat list, made in a time that hardly depends on
 * the page's size. Roles and names are simpler than in an outline.
 */
export async function crowdedItems(
  page: Page,
  refs: Refs,
  { tab, measure, text }: { readonly tab: number; readonly measure: PageMeasure; readonly text?: string },
): Promise<Item[]> {
  const list = await page.evaluateHandle(findNearElements, { text, most: mostItems });
  const handles = [...(await list.getProperties()).values()].map((one) => one.asElement() as ElementHandle | null);
  const found = await Promise.all(
    handles.map(async (handle) =>
      handle === null ? undefined : { handle, self: await handle.evaluate(describeElement) },
    ),
  );
  await list.dispose();
  return found.flatMap((one) => {
    if (one === undefined) return [];
    const { handle, self } = one;
    const role = roleOf(self);
    const name = (self.words.find((word) => word.trim() !== "") ?? "").replace(/\s+/g, " ").trim();
    const mark = squeezed(name);
    const ref = refs.give({
      tab,
      frame: page.mainFrame(),
      origin: measure.origin,
      where: { by: "handle", handle },
      role,
      name,
      mark,
    });
    const acts = actsByRole(role);
    const away = Math.max(0, self.box.y - measure.height, -(self.box.y + self.box.height));
    return [
      {
        role,
        name: acts ? name : "",
        text: acts ? "" : name,
        states: [],
        ref,
        acts,
        away,
        url: undefined,
        children: [],
      },
    ];
  });
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

function roleOf({ role, tag, type }: ElementSelf): string {
  if (role !== "") return role;
  if (tag === "input") return roles[type] ?? "textbox";
  return /^h[1-6]$/.test(tag) ? "heading" : (roles[tag] ?? "text");
}
