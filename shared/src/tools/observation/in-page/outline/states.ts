import type { AriaState } from "../../aria-node.ts";
import type { PageElement } from "../dom.ts";
import type { Reader } from "../reader.ts";
import { hiddenBox } from "./roles.ts";

/** Knows what is chosen, written and allowed in elements. Exists in the page, for one look. */
export type States = {
  of(element: PageElement, role: string, name: string): AriaState;
  /**
   * The value of a field of the browser, or that a page tells of its own; undefined for any other
   * element.
   */
  valueOf(element: PageElement, role: string): string | undefined;
};

/** Runs in the page: the open dialog that makes all else of the document inert. */
export function topModal(reader: Reader): PageElement | undefined {
  const open = Array.from(reader.all("dialog:modal"));
  const focused = reader.focused();
  return open.findLast((one) => focused !== undefined && one.contains(focused)) ?? open.at(-1);
}

/** Runs in the page: creates `States`. `formats` is how fields of some types are written. */
export function openStates(reader: Reader, formats: Readonly<Record<string, string>>): States {
  const roles = stateRoles();
  return {
    of(element, role, name) {
      const placeholder = reader.attribute(element, "placeholder") ?? undefined;
      const told = (name: string) => reader.attribute(element, `aria-${name}`)?.toLowerCase();
      const tristate = (value: string | undefined) => (value === "mixed" ? value : value === "true" || undefined);
      const isField = roles.fillable.has(role);
      const isExpanded = roles.expandable.has(role) && told("expanded") === "true";
      const isSelected = () =>
        reader.tag(element) === "OPTION" ? element.selected === true : told("selected") === "true";
      return {
        checked: roles.checkable.has(role) ? (boxState(reader, element) ?? tristate(told("checked"))) : undefined,
        disabled: (roles.disableable.has(role) && isDisabled(reader, element)) || undefined,
        expanded: isExpanded || isOpenSummary(reader, element) || undefined,
        invalid: isField ? invalidState(told("invalid")) : undefined,
        level: roles.levelled.has(role) ? levelOf(reader.tag(element), told("level")) : undefined,
        modal: (/dialog$/.test(role) && topModal(reader) === element) || undefined,
        pressed: role === "button" ? tristate(told("pressed")) : undefined,
        readOnly: (isField && isReadOnly(reader, element)) || undefined,
        selected: (roles.selectable.has(role) && isSelected()) || undefined,
        placeholder: isField && placeholder !== name ? placeholder : undefined,
        url: role === "link" ? reader.attribute(element, "href")?.slice(0, 500) : undefined,
      };
    },
    valueOf(element, role) {
      const tag = reader.tag(element);
      if (tag === "PROGRESS" || tag === "METER") return `${element.value}/${reader.attribute(element, "max") ?? 1}`;
      if (tag === "INPUT" || tag === "TEXTAREA") {
        const value = fieldValue(element, formats);
        // A person typed here, perhaps a secret: that there is something is all that is told.
        const isCovered = value && reader.attribute(element, "data-manyhands-covered") !== null;
        return role === "slider" && !isCovered ? sliderText(reader, element, value) : isCovered ? "•••" : value;
      }
      if (!roles.fillable.has(role) && role !== "progressbar" && role !== "meter") return undefined;
      const told = reader.attribute(element, "aria-valuetext") ?? reader.attribute(element, "aria-valuenow");
      const value = told?.replace(/[\s\u200b]+/g, " ").trim();
      return role === "slider" ? sliderText(reader, element, value) : value;
    },
  };
}

/** Runs in the page: the roles that have each state. */
export function stateRoles() {
  const words = (text: string) => new Set(text.split(/\s+/));
  return {
    checkable: words("checkbox menuitemcheckbox menuitemradio option radio switch treeitem"),
    selectable: words("columnheader gridcell option row rowheader tab treeitem"),
    levelled: words("heading listitem row treeitem"),
    fillable: words("textbox searchbox combobox listbox slider spinbutton checkbox radio switch"),
    expandable: words(
      `application button checkbox columnheader combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio
      row rowheader switch tab treeitem`,
    ),
    disableable: words(
      `application button checkbox columnheader combobox grid gridcell group link listbox menu menubar menuitem
      menuitemcheckbox menuitemradio option radio radiogroup row rowheader scrollbar searchbox separator slider
      spinbutton switch tab tablist textbox toolbar tree treegrid treeitem`,
    ),
  };
}

/** Runs in the page: where a slider stands, between which values, and what sets it. */
export function sliderText(reader: Reader, element: PageElement, value = ""): string {
  const [from, to] = ["min", "max"].map(
    (end) => reader.attribute(element, end) ?? reader.attribute(element, `aria-value${end}`),
  );
  return `${value} (${from ?? 0} to ${to ?? 100}; browser_input_text sets it)`.trim();
}

/** Runs in the page: whether a checkbox or radio button of the browser is checked. */
export function boxState(reader: Reader, element: PageElement): true | "mixed" | undefined {
  const box = hiddenBox(reader, element) ?? element;
  if (reader.tag(box) !== "INPUT" || !/^(?:checkbox|radio)$/.test(String(box.type))) return undefined;
  return box.indeterminate === true ? "mixed" : box.checked === true || undefined;
}

/** Runs in the page. */
export function isDisabled(reader: Reader, element: PageElement): boolean {
  const canBe = /^(?:BUTTON|FIELDSET|INPUT|OPTGROUP|OPTION|SELECT|TEXTAREA)$/.test(reader.tag(element));
  const box = hiddenBox(reader, element);
  if (box !== undefined && reader.matches(box, ":disabled")) return true;
  return (canBe && reader.matches(element, ":disabled")) || reader.closest(element, "[aria-disabled=true]") !== null;
}

/** Runs in the page: whether it is the `summary` of details that are open. */
export function isOpenSummary(reader: Reader, element: PageElement): boolean {
  const parent = reader.tag(element) === "SUMMARY" ? reader.parent(element) : undefined;
  return parent !== undefined && reader.attribute(parent, "open") !== null;
}

/** Runs in the page: why a field is wrong, as its attribute says. */
export function invalidState(told: string | undefined): true | string | undefined {
  return told === undefined || told === "" || told === "false" ? undefined : told === "true" || told;
}

/** Runs in the page: the level of a heading or of an entry. */
export function levelOf(tag: string, told: string | undefined): number | undefined {
  const level = Number(/^H([1-6])$/.exec(tag)?.[1] ?? told);
  return level > 0 ? level : undefined;
}

/** Runs in the page. */
export function isReadOnly(reader: Reader, element: PageElement): boolean {
  if (reader.attribute(element, "aria-readonly") === "true") return true;
  if (reader.attribute(element, "readonly") === null) return false;
  const tag = reader.tag(element);
  return tag === "TEXTAREA" || (tag === "INPUT" && isTyped(String(element.type)));
}

/** Runs in the page: whether a field of a type is written into. */
export function isTyped(type: string): boolean {
  return /^(?:|text|search|tel|url|email|password|date|month|week|time|datetime-local|number|textarea)$/.test(type);
}

/**
 * Runs in the page: what is written in a field of the browser, in quotation marks where blanks are
 * around it; its format while it is empty; and of a password only that there is one.
 */
export function fieldValue(element: PageElement, formats: Readonly<Record<string, string>>): string | undefined {
  const type = String(element.type ?? "");
  if (type === "file") return chosenFiles(element);
  if (/^(?:checkbox|radio|button|submit|reset|image|hidden)$/.test(type)) return undefined;
  const value = String(element.value ?? "");
  if (type === "password") return value === "" ? "" : "•••";
  if (value === "" && formats[type] !== undefined) return `(empty, written like ${formats[type]})`;
  if (isTyped(type) && /^\s|\s$/.test(value)) return JSON.stringify(value.slice(0, 2_000));
  return value.replace(/[\s\u200b]+/g, " ").trim();
}

/**
 * Runs in the page: the names of the files that a field was given; "" if it is no field for files.
 */
export function chosenFiles(element: PageElement): string {
  return Array.from(element.files ?? [], ({ name }) => name)
    .join(", ")
    .slice(0, 300);
}

/** How to write the fields that accept only one format, by their type. */
export const fieldFormats: Readonly<Record<string, string>> = {
  date: "2026-01-31",
  time: "13:05",
  "datetime-local": "2026-01-31T13:05",
  month: "2026-01",
  week: "2026-W05",
};
