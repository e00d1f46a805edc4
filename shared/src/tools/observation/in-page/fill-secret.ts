import type { PageElement } from "./dom.ts";

/** A field of the browser, and the form it belongs to. */
type Field = PageElement & {
  value: string;
  readonly type: string;
  readonly form: PageElement | null;
  readonly readOnly: boolean;
  readonly disabled: boolean;
  readonly maxLength: number;
  focus(): void;
  setAttribute(name: string, value: string): void;
  readonly style: { setProperty(name: string, value: string, priority: string): void };
};
type Button = PageElement & { readonly form: PageElement | null; readonly formAction: string };

declare const origin: string;
declare const location: { readonly ancestorOrigins: ArrayLike<string> };
declare const document: object;
declare const Document: { readonly prototype: object };
declare const HTMLFormElement: { readonly prototype: object };
declare const InputEvent: new (kind: string, options: object) => object;
declare const Event: new (kind: string, options: object) => object;
declare const KeyboardEvent: new (kind: string, options: object) => object;

/** How to fill a field: only if it is one of these types, in a document of one of these sites. */
export type SecretOrder = {
  readonly types: readonly string[];
  readonly sites: readonly string[];
  /** The value as the codes of its characters; left out to find out whether it could be filled. */
  readonly codes?: readonly number[];
};

/** What came of it; everything but `filled` and `ready` means that nothing was written. */
export type SecretOutcome = {
  readonly is: "filled" | "ready" | "changed" | "type" | "hidden" | "locked" | "site" | "form" | "refused";
  /** The type of the field, or the origin that is not one of the sites. */
  readonly of?: string;
};

/**
 * Runs in the page: decides and writes without a pause in between, so that no script of the page
 * and no navigation comes between what was checked and what is written. Nothing is decided by what
 * the page calls its field.
 */
export function fillSecret(element: PageElement, { types, sites, codes }: SecretOrder): SecretOutcome {
  const field = element as Field;
  const first = whyNotFilled(field, types, sites);
  if (first !== undefined) return first;
  if (codes === undefined) return { is: "ready" };
  field.focus();
  // Handlers of the page have run.
  const then = whyNotFilled(field, types, sites);
  if (then !== undefined) return then;
  const text = String.fromCodePoint(...codes);
  const places = placesFor(field, text, types);
  const parts = places.length === 1 ? [text] : [...text];
  for (const [index, place] of places.entries()) {
    place.setAttribute("data-manyhands-covered", "");
    if (place.type !== "password") place.style.setProperty("-webkit-text-security", "disc", "important");
    place.value = parts[index] ?? "";
  }
  const isWritten = places.every((place, index) => place.value === parts[index]);
  if (!isWritten) for (const place of places) place.value = "";
  for (const place of places) tellWritten(place);
  return { is: isWritten ? "filled" : "refused" };
}

/** Runs in the page: why the field is not filled; undefined if it may be. */
export function whyNotFilled(
  field: Field,
  types: readonly string[],
  sites: readonly string[],
): SecretOutcome | undefined {
  if (!field.isConnected || (field.ownerDocument as object) !== document) return { is: "changed" };
  if (field.tagName !== "INPUT") return { is: "type", of: field.tagName.toLowerCase() };
  if (!types.includes(field.type)) return { is: "type", of: field.type };
  if (field.disabled || field.readOnly) return { is: "locked" };
  const { width, height } = field.getBoundingClientRect();
  const isSeen = field.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && width > 1 && height > 1;
  if (!isSeen) return { is: "hidden" };
  const stranger = [origin, ...Array.from(location.ancestorOrigins)].find((one) => !sites.includes(one));
  if (stranger !== undefined) return { is: "site", of: stranger };
  const goal = goalsOf(field.form).find((one) => !sites.includes(one));
  return goal === undefined ? undefined : { is: "form", of: goal };
}

/**
 * Runs in the page: the origins that a form may be sent to. A form's fields may have the names of
 * its properties, so these are read through the prototypes.
 */
export function goalsOf(form: PageElement | null): string[] {
  if (form === null) return [];
  const action = Object.getOwnPropertyDescriptor(HTMLFormElement.prototype, "action")?.get?.call(form) as string;
  const all = Object.getOwnPropertyDescriptor(Document.prototype, "querySelectorAll")?.value as (
    selector: string,
  ) => ArrayLike<Button>;
  const buttons = Array.from(all.call(document, "[formaction]")).filter((button) => button.form === form);
  return [action, ...buttons.map(({ formAction }) => formAction)].map((address) => {
    try {
      return new URL(address).origin;
    } catch {
      return "null";
    }
  });
}

/** Runs in the page: the field, or the row of fields with one character each that it begins. */
export function placesFor(field: Field, text: string, types: readonly string[]): Field[] {
  if (field.maxLength !== 1 || text.length === 1) return [field];
  const all = Object.getOwnPropertyDescriptor(Document.prototype, "querySelectorAll")?.value as (
    selector: string,
  ) => ArrayLike<Field>;
  const row = Array.from(all.call(document, "input[maxlength='1']"));
  const from = row.slice(row.indexOf(field)).slice(0, text.length);
  const fits = from.length === text.length && from.every((one) => types.includes(one.type) && one.form === field.form);
  return fits ? from : [field];
}

/** Runs in the page: tells its scripts what typing would. */
export function tellWritten(field: Field): void {
  const options = { bubbles: true, composed: true };
  field.dispatchEvent(new InputEvent("input", { ...options, inputType: "insertText" }));
  field.dispatchEvent(new KeyboardEvent("keyup", { ...options, key: "Unidentified" }));
  field.dispatchEvent(new Event("change", options));
}
