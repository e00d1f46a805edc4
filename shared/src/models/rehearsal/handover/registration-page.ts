/** One thing to enter, as the task says it: `- Country: Norway`. */
export type Detail = { readonly label: string; readonly value: string };

/** A field to set, as `browser_fill_form` takes it. */
export type FieldSetting = { readonly ref: string; readonly value: string | boolean };

/** The details that a task lists after the address of the form. */
export function detailsIn(text: string, address: string): readonly Detail[] {
  const [list = ""] = text
    .slice(text.indexOf(address) + address.length)
    .split(/\n(?!\s*- )/)
    .slice(0, 1);
  return [...list.matchAll(/^\s*- ([^:\n]+): (.+)$/gm)].map(([, label = "", value = ""]) => ({
    label,
    value: value.trim(),
  }));
}

/** The number that a page shows as the registration's. */
export function numberOn(page: string): string | undefined {
  return /registration number is (MH-\d+)/.exec(page)?.[1];
}

/** The button that leads on from a page of the form; undefined where no form is shown. */
export function buttonOn(page: string): string | undefined {
  return /button "(?:Next|Register)"[^\n]*\[(e\d+)\]/.exec(page)?.[1];
}

/** The fields on a page that do not have yet what the details say. */
export function openFields(page: string, details: readonly Detail[]): readonly FieldSetting[] {
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
