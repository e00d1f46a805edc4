import { AppError } from "../../../core/errors.ts";
import { firstOf } from "../../../core/text/counted.ts";
import type { FoundElement } from "../../observation/elements/find-element.ts";
import { endTyping, type FieldOption, readOptions, readSlider } from "../../observation/in-page/outline/read-field.ts";
import { fieldFormats } from "../../observation/in-page/outline/states.ts";
import { asData } from "../../page/as-data.ts";
import { actMs } from "./perform.ts";
import { setChecked } from "./press.ts";

/** The keys that move a slider up and down, by much and by little. */
const sliderKeys = [
  ["PageUp", "PageDown"],
  ["ArrowRight", "ArrowLeft"],
] as const;
const mostPresses = 200;

/** Moves a slider that a page draws itself as near to a number as its keys go. */
async function setSlider({ handle, label }: FoundElement, text: string): Promise<string> {
  const goal = Number(text);
  if (text.trim() === "" || Number.isNaN(goal))
    throw new AppError("invalid_input", `${label} is a slider; its value is a number.`);
  await handle.focus();
  const before = await handle.evaluate(readSlider);
  let now = before;
  for (const [up, down] of sliderKeys)
    for (let presses = 0; presses < mostPresses && now !== goal; presses++) {
      const [there, back] = goal > now ? [up, down] : [down, up];
      await handle.press(there, { timeout: actMs });
      const next = await handle.evaluate(readSlider);
      const isNearer = Math.abs(goal - next) < Math.abs(goal - now);
      if (!isNearer && next !== now) await handle.press(back, { timeout: actMs });
      if (!isNearer) break;
      now = next;
    }
  if (now === goal) return label;
  if (now === before)
    throw new AppError("conflict", `${label} does not move by keys. Drag its handle with browser_drag.`);
  return `${label}, which holds "${now}" now`;
}

/**
 * Replaces the text of a text field. A key is released in it at the end, because the suggestions of
 * some pages wait for that.
 */
export async function setText(element: FoundElement, text: string): Promise<string> {
  const { handle, self, label, seen } = element;
  if (seen.role === "slider" && self.tag !== "input") return await setSlider(element, text);
  await handle.fill(text, { timeout: actMs });
  const now = await handle.evaluate(endTyping);
  // An editor makes paragraphs of lines.
  const isSame = now === text || (self.type === "" && now.replace(/\s+/g, " ") === text.trim().replace(/\s+/g, " "));
  if (isSame || self.type === "password") return label;
  if (now === "")
    throw new AppError("invalid_input", `${label} does not take ${JSON.stringify(text)}${formatOf(self.type)}.`);
  return `${label}, which holds ${JSON.stringify(now.slice(0, 200))} now`;
}

const formats: Readonly<Record<string, string>> = { ...fieldFormats, number: "12.5" };

function formatOf(type: string): string {
  const format = formats[type];
  return format === undefined ? "" : `: such a field is written like ${format}`;
}

/** Types at the end of a text field's text. */
export async function addText({ handle }: FoundElement, text: string): Promise<void> {
  await handle.press("End", { timeout: actMs });
  await handle.type(text, { timeout: Math.max(actMs, text.length * 20) });
}

/** Sets a field of any kind: its text, its dropdown entry, or whether its box is checked. */
export async function setField(element: FoundElement, value: string | boolean): Promise<string> {
  const { handle, self, label, seen } = element;
  if (self.tag === "select") return `${label} to ${JSON.stringify(await chooseOption(element, String(value)))}`;
  const box = ["checkbox", "radio", "switch"].includes(self.tag === "input" ? self.type : seen.role);
  if (!box) {
    if (typeof value === "boolean")
      throw new AppError("invalid_input", `${label} is not a checkbox; its value has to be a text.`);
    return await setText(element, value);
  }
  const checked = /^(?:true|on|yes|checked)$/i.test(String(value));
  if (!checked && !/^(?:false|off|no|unchecked|)$/i.test(String(value)))
    throw new AppError("invalid_input", `${label} is a ${seen.role}; its value is true or false.`);
  await setChecked(handle, checked);
  return `${label} to ${checked ? "checked" : "unchecked"}`;
}

/** Chooses an entry of the browser's own dropdown by its text, or its value; returns the text. */
export async function chooseOption({ handle, label, seen }: FoundElement, text: string): Promise<string> {
  const options = await handle.evaluate(readOptions);
  const wanted = text.trim().replace(/\s+/g, " ").toLowerCase();
  const by = (one: (option: FieldOption) => string) => options.find((option) => one(option).toLowerCase() === wanted);
  const found = by((option) => option.text) ?? by((option) => option.value);
  if (found === undefined)
    throw new AppError(
      "invalid_input",
      `${label} has no option ${JSON.stringify(text)}. ${listed(options, seen.frame.url())}`,
    );
  if (found.disabled)
    throw new AppError("conflict", `The option ${JSON.stringify(found.text)} of ${label} is disabled.`);
  await handle.selectOption({ index: found.index }, { timeout: actMs });
  return found.text;
}

function listed(options: readonly FieldOption[], url: string): string {
  const texts = options.map(({ text }) => JSON.stringify(text));
  return `It has:\n${asData(url, firstOf(texts, 30))}`;
}
