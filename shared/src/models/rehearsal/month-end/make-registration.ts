import { doing } from "../flow-messages.ts";
import { type Acting, excerpt, finish, type Scene, type Script, type ScriptCall } from "../script.ts";
import { addressIn, monthEndSteps } from "./month-end-steps.ts";

const needed = ["browser_go_to_url", "browser_snapshot", "browser_fill_form", "browser_click_element"];
const maxTurns = 20;
const maxOpened = 4;
const look: ScriptCall = { name: "browser_snapshot", args: { full: true } };

/**
 * Browser's part of the demo. Each action depends only on the current page, so after a stale ref, a
 * lost page or an interrupted call, the script simply looks again.
 */
export const makeRegistration: Script = {
  task: doing(monthEndSteps.register),
  *play(scene) {
    if (needed.some((name) => !scene.tools.has(name)))
      return finish(scene, "failure", "There is no browser here, so nothing was registered.");
    const address = addressIn(scene.text);
    const details = address === undefined ? [] : detailsIn(scene.text, address);
    if (address === undefined || details.length === 0)
      return finish(scene, "failure", "The task names no address, or nothing to register with.");
    const number = yield* fillPages(address, details);
    if (typeof number !== "string")
      return finish(scene, "failure", `Nothing was registered at ${address}. ${number.why}`);
    return yield* keepPicture(scene, number, address, details);
  },
};

/** Fills page after page until one shows the number of the registration. */
function* fillPages(address: string, details: readonly Detail[]): Acting<string | { readonly why: string }> {
  const open: ScriptCall = { name: "browser_go_to_url", args: { url: address } };
  let say = "I am the rehearsal model, a script. I open the form.";
  let act = open;
  let opened = 1;
  for (let turn = 0; turn < maxTurns; turn++) {
    const [done = "", page = ""] = yield { say, calls: [act, look] };
    const number = numberOn(page);
    if (number !== undefined) return number;
    const button = buttonOn(page);
    const fields = openFields(page, details);
    if (button === undefined) {
      if (opened++ === maxOpened) return { why: `No form was to be seen there: ${excerpt(done)}` };
      say = `I see no form (${excerpt(done)}). I open it.`;
      act = open;
    } else if (fields.length > 0) {
      say = `This page wants ${fields.length === 1 ? "one thing" : `${fields.length} things`} that I was told. I fill it in.`;
      act = { name: "browser_fill_form", args: { fields } };
    } else {
      say = "The page shows everything I was told. I go on.";
      act = { name: "browser_click_element", args: { ref: button } };
    }
  }
  return { why: `The form did not come to its end in ${maxTurns} turns.` };
}

function* keepPicture(scene: Scene, number: string, address: string, details: readonly Detail[]) {
  const path = "receipt.png";
  const [kept = ""]: readonly string[] = yield {
    say: `The page shows the number ${number}. I keep a picture of it.`,
    calls: [{ name: "browser_screenshot", args: { path } }],
  };
  const picture = kept.includes(path) ? `The page that shows it is kept as ${path}.` : `No picture: ${excerpt(kept)}`;
  const given = details.map(({ label, value }) => `${label}: ${value}`).join("; ");
  const summary = `Registered at ${address}. Registration number: ${number}\n${picture}\nGiven: ${given}.`;
  return finish(scene, "success", summary, "Done.");
}

/** One value to enter, in the task's form: `- Country: Norway`. */
export type Detail = { readonly label: string; readonly value: string };

/** A field to set, as `browser_fill_form` takes it. */
export type FieldSetting = { readonly ref: string; readonly value: string | boolean };

/** The values that a task, which may be quoted, lists after the address of the form. */
function detailsIn(quoted: string, address: string): readonly Detail[] {
  const text = quoted.replaceAll(/^> ?/gm, "");
  const [list = ""] = text
    .slice(text.indexOf(address) + address.length)
    .split(/\n(?!\s*- )/)
    .slice(0, 1);
  return [...list.matchAll(/^\s*- ([^:\n]+): (.+)$/gm)].map(([, label = "", value = ""]) => ({
    label,
    value: value.trim(),
  }));
}

/** The registration number that a page shows. */
function numberOn(page: string): string | undefined {
  return /registration number is (MH-\d+)/.exec(page)?.[1];
}

/** The button that leads to the next page of the form; undefined if no form is shown. */
function buttonOn(page: string): string | undefined {
  return /button "(?:Next|Register)"[^\n]*\[(e\d+)\]/.exec(page)?.[1];
}

/** The fields on a page that do not have the requested values yet. */
function openFields(page: string, details: readonly Detail[]): readonly FieldSetting[] {
  return details.flatMap(({ label, value }): FieldSetting[] => {
    const field = elementOn(page, "textbox|combobox|checkbox", label) ?? elementOn(page, "radio", value);
    if (field === undefined) return [];
    if (field.role === "radio") return field.isChecked ? [] : [{ ref: field.ref, value: true }];
    if (field.role === "checkbox") {
      const wanted = value === "yes";
      return field.isChecked === wanted ? [] : [{ ref: field.ref, value: wanted }];
    }
    return field.shown === value ? [] : [{ ref: field.ref, value }];
  });
}

function elementOn(page: string, roles: string, name: string) {
  const label = name.replaceAll(/[^\w ]/g, "\\$&");
  const line = new RegExp(`(${roles}) "${label}"((?: \\[[^\\]]*\\])*)(?:: ([^\\n]*))?`).exec(page);
  const [, role = "", marks = "", text = ""] = line ?? [];
  const ref = /\[(e\d+)\]/.exec(marks)?.[1];
  if (ref === undefined) return undefined;
  return { role, ref, isChecked: marks.includes("[checked]"), shown: text.split(" (entries:")[0]?.trim() ?? "" };
}
