/** What a reader is shown of an element: what it is, its name, and what can be done by its ref. */
export type Item = {
  readonly role: string;
  readonly name: string;
  readonly text: string;
  /** Such as `checked` or `disabled`. */
  readonly states: readonly string[];
  readonly ref: string | undefined;
  /** Whether it is actionable. */
  readonly acts: boolean;
  /** How far outside the window it is, in pixels; 0 in view. */
  readonly away: number;
  readonly url: string | undefined;
  /** Whether an open dialog makes a shape inert. */
  readonly behind?: true;
  readonly children: readonly Item[];
};

const acting = new Set(
  `button link textbox searchbox combobox listbox option checkbox radio switch slider spinbutton tab menuitem menuitemcheckbox
  menuitemradio treeitem gridcell iframe`.split(/\s+/),
);

/** Whether elements of this role are actionable. */
export function actsByRole(role: string): boolean {
  return acting.has(role);
}

const quiet = new Set(
  `generic none presentation paragraph cell rowgroup strong emphasis code superscript subscript insertion deletion mark time
  caption definition term`.split(/\s+/),
);

/**
 * Whether a role says nothing a reader would miss: the content of such an element is shown in its
 * place.
 */
export function isQuiet(role: string): boolean {
  return quiet.has(role);
}

const entry = new Set([
  "textbox",
  "searchbox",
  "combobox",
  "listbox",
  "slider",
  "spinbutton",
  "checkbox",
  "radio",
  "switch",
]);

/** Whether the content of an element of this role is its value, not its name. */
export function holdsValue(role: string): boolean {
  return entry.has(role);
}

/** Whether an element of this role is written into. */
export function takesText(role: string): boolean {
  return holdsValue(role) && !/^(?:checkbox|radio|switch)$/.test(role);
}

const named = new Set([
  "button",
  "link",
  "option",
  "checkbox",
  "radio",
  "switch",
  "tab",
  "menuitem",
  "menuitemcheckbox",
  "menuitemradio",
  "heading",
  "img",
]);

/**
 * Whether the name of such an element includes all its content, so that only actionable elements
 * are shown below it.
 */
export function nameSaysAll(role: string): boolean {
  return named.has(role);
}

/** The item with a ref, at any depth. */
export function itemWith(items: readonly Item[], ref: string): Item | undefined {
  for (const item of items) {
    const found = item.ref === ref ? item : itemWith(item.children, ref);
    if (found !== undefined) return found;
  }
  return undefined;
}
